/**
 * Measures the longest block of the thread with a timer, and returns it in ms from `end()`. Browsers run the timer at
 * most every 4 ms, so the result is up to 4 ms too long. Messages would be more precise, but would occupy a whole CPU.
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
