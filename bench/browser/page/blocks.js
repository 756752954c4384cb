/**
 * Finds the longest block of the thread with a timer. Browsers run it at most every 4 ms, so the result is up to 4 ms
 * too long. Messages would be more exact, but need a whole CPU.
 */
export function watchBlocks() {
  let longest = 0, last = performance.now(), timer
  const look = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const again = () => {
    look()
    timer = setTimeout(again, 0)
  }
  again()
  return {
    end() {
      clearTimeout(timer)
      look()
      return longest
    },
  }
}
