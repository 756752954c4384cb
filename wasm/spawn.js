// Starts workers.

import { wasmURL } from './engine.js'
import { ListWatchError } from './error.js'
import { messageOf } from './messages.js'

/**
 * Starts a worker. `failed` gets its error events.
 * @param {'shared' | 'worker'} mode
 * @param {(event: { message?: unknown }) => void} failed
 * @returns {{ port: import('./messages.js').Port, stop: () => void, url: URL, wasm?: string }}
 */
export function spawn(mode, failed) {
  const url = scriptURL(/** @type {any} */ (function (/** @type {URL} */ url) { return url }))
  try {
    // Bundlers find the worker by this form of the constructor, and need literals. The name has the number PROTOCOL.
    if (mode === 'shared') {
      const worker = new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'listwatch 1' })
      worker.onerror = failed
      return { port: worker.port, stop: () => worker.port.close(), url }
    }
    if (url.origin !== globalThis.origin) return spawnBlob(url, failed)
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'listwatch' })
    worker.onerror = failed
    return { port: worker, stop: () => worker.terminate(), url }
  } catch (cause) {
    throw notStarted(mode, url, cause)
  }
}

/**
 * Starts a worker from another origin. Only its import may cross origins, and the server must allow it by CORS.
 * @param {URL} url
 * @param {(event: { message?: unknown }) => void} failed
 */
function spawnBlob(url, failed) {
  const blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)}`], { type: 'text/javascript' }))
  const worker = new Worker(blob, { type: 'module', name: 'listwatch' })
  worker.onerror = failed
  const stop = () => {
    worker.terminate()
    URL.revokeObjectURL(blob)
  }
  return { port: worker, stop, url, wasm: wasmURL().href } // a bundled worker would search for it next to the blob
}

/**
 * Returns the URL of the worker's script. Bundlers replace it only in this form, so the constructor is a parameter.
 * @param {new (url: URL, options: object) => URL} Worker
 */
const scriptURL = (Worker) => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })

/**
 * @param {'shared' | 'worker'} mode
 * @param {URL} url
 * @param {unknown} [cause]
 */
export const notStarted = (mode, url, cause) => new ListWatchError('load', `listwatch: the ${mode === 'shared' ? 'shared worker' : 'worker'} ${url} could not be started` +
  `${cause ? `: ${messageOf(cause)}` : ''}; serve it from the origin of the page, allow it in the content security policy, or call init({ mode: "main" })`, { cause })
