// Starts workers.

import { ListWatchError } from './error.js'
import { suffixOf } from './messages.js'
import { BUNDLERS } from './source.js'

/**
 * Starts a worker and returns its port. `failed` receives the worker's error events.
 * @param {'shared' | 'worker'} mode
 * @param {string | undefined} script the absolute URL of the worker's script. Default: worker.js next to this file.
 * @param {(event: { message?: unknown }) => void} failed
 * @returns {{ port: import('./messages.js').Port, stop: () => void, url: URL }}
 */
export function spawn(mode, script, failed) {
  const url = script ? new URL(script) : scriptURL(/** @type {any} */ (function (/** @type {URL} */ url) { return url }))
  try {
    // Bundlers recognize these constructors only if their arguments are literals. Webpack names the output file after
    // the worker. The worker's name ends with PROTOCOL.
    if (mode === 'shared') {
      const worker = script ? new SharedWorker(script, { type: 'module', name: 'listwatch-2' })
        : new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'listwatch-2' })
      worker.onerror = failed
      return { port: worker.port, stop: () => worker.port.close(), url }
    }
    // A script from another origin cannot be a worker, but a worker can import it if its server allows this with CORS.
    const blob = url.origin === globalThis.origin ? '' : URL.createObjectURL(new Blob([`import ${JSON.stringify(url.href)}`], { type: 'text/javascript' }))
    const source = blob || script
    const worker = source ? new Worker(source, { type: 'module' }) : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
    worker.onerror = failed
    const stop = () => {
      worker.terminate()
      URL.revokeObjectURL(blob)
    }
    return { port: worker, stop, url }
  } catch (cause) {
    throw new NotStarted(mode, url, cause)
  }
}

/**
 * Returns the URL of the worker's script. Bundlers replace the URL only if it is an argument of `new Worker`, so the
 * constructor is a parameter with this name.
 * @param {new (url: URL, options: object) => URL} Worker
 */
const scriptURL = (Worker) => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })

/** The error of a worker that fails before its first answer. The browser may not allow this kind of worker, but another one. */
export class NotStarted extends ListWatchError {
  /** @param {'shared' | 'worker'} mode @param {URL | string} url @param {unknown} [cause] */
  constructor(mode, url, cause) {
    super('load', `listwatch: the ${mode === 'shared' ? 'shared ' : ''}worker ${url} could not be started${suffixOf(cause)}; ` +
      `serve it from the origin of the page, allow it in the content security policy, or call init({ mode: "main" }). ${BUNDLERS}`, { cause })
  }
}
