const LONG = 50 // in ms, the limit of a long task in the specification of browsers

/**
 * Measures the blocks of the thread with a timer. `end()` returns the longest block in ms and the number of long ones.
 * Browsers run the timer at most every 4 ms, so the result is up to 4 ms too long. Messages would be more precise, but would occupy
 * a whole CPU.
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
