const LONG = 50 // browsers define a long task as one of more than 50 ms

/**
 * Measures how long tasks block this thread. `end()` of the result returns the longest block in ms and the number of
 * long blocks. The timer runs at most every 4 ms, so a block may appear up to 4 ms longer. Messages would be more
 * precise but would use a whole CPU.
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
