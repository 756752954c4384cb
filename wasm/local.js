// Runs the WASM module on the page's main thread.

/** @import { InitOptions } from './types.js' */

import { Engine } from './engine.js'
import { Host } from './host.js'

/** @param {InitOptions['wasm']} wasm */
export const startHost = async (wasm) => new Host(await Engine.load(wasm))
