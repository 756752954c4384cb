// Runs the WASM module on the page's main thread, or in Node.

/** @import { InitOptions } from './types.js' */
/** @import { Source } from './messages.js' */

import { Engine } from './engine.js'
import { Host } from './host.js'
import { fileOrURL, isBytes, wasmURL } from './source.js'

/** @param {InitOptions['wasm']} wasm */
export const startHost = async (wasm) => new Host(await Engine.load(sourceOf(wasm)))

/** @param {InitOptions['wasm']} wasm @returns {Promise<Source | Response>} */
async function sourceOf(wasm) {
  const given = await wasm ?? wasmURL()
  if (typeof given === 'string' || given instanceof URL) return fileOrURL(new URL(given, globalThis.location?.href).href)
  // A response may come from another realm, for example from happy-dom, so it cannot be checked with instanceof.
  if (given instanceof WebAssembly.Module || isBytes(given) || /** @type {any} */ (given).arrayBuffer) return given
  throw new Error('wasm must be a URL, a Response, bytes or a module')
}
