/**
 * Measures how long a task blocks this thread. The method `end()` of the result returns the longest block in ms. The
 * timer runs at most every 4 ms, so the value is up to 4 ms too high. Messages would be more precise, but would use a
 * whole CPU.
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
