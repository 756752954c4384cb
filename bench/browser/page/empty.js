// Starts an empty Go program in a SharedWorker, in the same way as the package starts its module. Resolves when the program
// runs.
export const empty = () => new Promise((resolve) => {
  const { port } = new SharedWorker(new URL('./empty-worker.js', import.meta.url), { type: 'module' })
  port.onmessage = resolve
  port.postMessage(new URL('/assets/empty.wasm', location.href).href)
})
