// Chooses where the WASM module runs: in a worker that all tabs share, in a worker of this page, or on this thread.

import { ListWatchError } from './error.js'
import { suffixOf } from './messages.js'
import { startWorker } from './remote.js'
import { fileOrURL, isBytes, wasmURL } from './source.js'
import { NotStarted } from './spawn.js'

/** @import { PageClient } from './host.js' */
/** @import { Source } from './messages.js' */
/** @import { Spec } from './spec.js' */
/** @import { InitOptions } from './types.js' */

/** @typedef {NonNullable<InitOptions['mode']>} Mode */
/**
 * A link opens collections. If `immediate` is true, changes reach subscribers at once instead of in the next frame.
 * If `loaded` is defined, collections may open earlier, but they all fail if it rejects.
 * @typedef {{ open: (spec: Spec, client: PageClient) => () => void, wake: () => void, immediate?: boolean, loaded?: Promise<void> }} Link
 */

/** @type {Mode[]} in the order in which they are tried */
const MODES = ['shared', 'worker', 'main']

/**
 * @param {InitOptions} options
 * @param {() => void} failed is called when the worker has failed permanently; a later connect starts a new worker
 */
export async function connect({ wasm, worker, mode }, failed) {
  if (mode && !MODES.includes(mode)) throw new ListWatchError('invalid', 'listwatch: mode must be "shared", "worker" or "main"')
  const listening = new AbortController()
  const link = await begin(mode ? [mode] : available(), { wasm, worker }, () => {
    listening.abort()
    failed()
  })
  // A tab that slept or was offline retries immediately. `pageshow` reports a return from the back/forward cache.
  const { signal } = listening, wake = () => link.wake()
  globalThis.document?.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal })
  for (const event of ['online', 'pageshow']) globalThis.addEventListener?.(event, wake, { signal })
  return link
}

function available() {
  if (!globalThis.document || typeof Worker !== 'function') return MODES.slice(2) // for example in Node, or in a page that a test simulates
  return MODES.slice(typeof SharedWorker === 'function' ? 0 : 1)
}

/**
 * @param {Mode[]} modes in the order in which to try them; a mode fails if its worker cannot be started
 * @param {Pick<InitOptions, 'wasm' | 'worker'>} sources
 * @param {() => void} failed
 * @returns {Promise<Link>}
 */
async function begin([mode, ...others], sources, failed) {
  const { wasm, worker } = sources
  if (mode === 'main') return startLocal(wasm)
  try {
    return await startWorker(mode, sendable(wasm), worker && absolute(worker, 'worker'), failed, others.length > 0)
  } catch (error) {
    if (!(error instanceof NotStarted) || !others.length) throw error
    console.warn(error.message)
    return begin(others, sources, failed)
  }
}

// Starts the module on this thread. The code for it is imported only here, so that pages with a worker do not load it.
/** @param {InitOptions['wasm']} wasm */
async function startLocal(wasm) {
  let local
  try {
    local = await import('./local.js')
  } catch (cause) {
    throw new ListWatchError('load', `listwatch: the code for mode "main" could not be loaded${suffixOf(cause)}; reload the page`, { cause })
  }
  return local.startHost(wasm)
}

/** @param {InitOptions['wasm']} wasm @returns {Source} */
function sendable(wasm) {
  if (wasm === undefined) return fileOrURL(wasmURL().href) // resolved here, because a worker that was started from a blob cannot resolve it
  if (typeof wasm === 'string' || wasm instanceof URL) return fileOrURL(absolute(wasm, 'wasm'))
  if (wasm instanceof WebAssembly.Module || isBytes(wasm)) return wasm
  throw new ListWatchError('invalid', 'listwatch: for a worker, wasm must be a URL, bytes or a module')
}

/**
 * Resolves a URL against the page's URL. It throws a ListWatchError if the URL is invalid.
 * @param {string | URL} url
 * @param {string} name the option's name
 */
function absolute(url, name) {
  try {
    return new URL(url, location.href).href
  } catch (cause) {
    throw new ListWatchError('invalid', `listwatch: ${name} is not a valid URL: ${url}`, { cause })
  }
}
