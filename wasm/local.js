// Runs the WASM module on the thread of the page.

/** @import { InitOptions } from './types.js' */

import { Engine } from './engine.js'
import { Host } from './host.js'

/** @param {InitOptions['wasm']} wasm */
export const startHost = async (wasm) => new Host(await Engine.load(wasm))
