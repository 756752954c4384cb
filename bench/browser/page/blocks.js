const LONG = 50 // browsers define a long task as a task that takes more than 50 ms

/**
 * Measures with a timer how long tasks block this thread. The method `end()` of the result returns the longest block in
 * ms and the number of long blocks. The timer runs at most every 4 ms, so the result is up to 4 ms too high. Messages
 * would be more precise, but would use a whole CPU.
 */
export function watchBlocks() {
  let longest = 0, long = 0, last = performance.now(), timer
  const look = () => {
    const now = performance.now(), block = now - last
    longest = Math.max(longest, block)
    if (block > LONG) long++
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
      return { longest, long }
    },
  }
}
