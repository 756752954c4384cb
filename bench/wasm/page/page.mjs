// Runs one task from the server in this page or in a worker, reports the result, and reloads the page.
import { run } from './world.mjs'

const ask = globalThis.fetch // run() replaces globalThis.fetch
const task = await (await ask('/task')).json()
let result
try {
  result = await (task.worker ? inWorker() : run(location.origin, task))
} catch (error) {
  result = { error: String(error) }
}
await ask('/result', { method: 'POST', body: JSON.stringify(result) })
location.reload()

function inWorker() {
  const worker = new Worker('/bench/wasm/page/worker.mjs', { type: 'module' })
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.postMessage(task)
  })
}
