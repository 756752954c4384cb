/**
 * Finds the longest time for which the thread is held, by a timer that is due every 4 ms, as often as browsers allow. So what is
 * found is up to 4 ms too long. A message to oneself is more exact, but would take a processor from those whom it measures.
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
