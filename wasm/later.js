/**
 * Runs a function after the pending events. In a browser, it posts a message, because hidden pages have slow timers.
 * @type {(f: () => void) => void}
 */
export const later = (() => {
  if (globalThis.setImmediate) return globalThis.setImmediate
  const { port1, port2 } = new MessageChannel()
  /** @type {(() => void)[]} */
  const waiting = []
  port1.onmessage = () => waiting.shift()?.()
  return (/** @type {() => void} */ f) => {
    waiting.push(f)
    port2.postMessage(0)
  }
})()
