// The engine runs the WASM module and gives it commands. After a crash, the next collection starts the module again.

import { ListWatchError } from './error.js'
import { glue } from './glue.js'
import { makeGo } from './go.js'
import { because, crashed } from './messages.js'
import { Slots } from './slots.js'

export const wasmURL = () => new URL('./listwatch.wasm', import.meta.url)

/**
 * The client of one collection: `records` must not keep the bytes, `failed` ends the collection, `token` returns a bearer
 * token, and `kept` has the saved rows if `spec.restored`.
 * @typedef {object} Sink
 * @property {(bytes: Uint8Array) => void} records
 * @property {(error: Error) => void} failed
 * @property {() => string | Promise<string>} [token]
 * @property {Uint8Array} [kept]
 */

export class Engine {
  /** @type {WebAssembly.Module} */
  // @ts-expect-error load sets it before anything else runs
  #module
  /** @type {{ end?: () => void } | undefined} the running instance; undefined after a crash */
  #run
  /** @type {string[]} */
  #commands = []
  /** @type {((command: string) => void) | undefined} takes the next command if the module waits for one */
  #idle
  /** @type {Map<number, Sink>} by the collection's number */
  #sinks = new Map()
  #last = 0
  #slots = new Slots()

  /**
   * Loads and starts the module.
   * @param {any} [wasm] the module, as in InitOptions
   */
  static async load(wasm) {
    const engine = new Engine()
    try {
      engine.#module = await compile(wasm ?? wasmURL())
      await engine.#begin()
    } catch (cause) {
      throw new ListWatchError('load', `listwatch: the program could not be loaded${because(cause)}`, { cause })
    }
    return engine
  }

  async #begin() {
    const go = new (/** @type {any} */ (makeGo()))()
    /** @type {{ end?: () => void }} */
    const run = this.#run = {}
    const failed = (/** @type {unknown} */ error) => this.die(error, run)
    run.end = glue(go, { ask: this.ask, emit: this.emit, crashed: failed })
    const instance = await WebAssembly.instantiate(this.#module, go.importObject)
    if (run !== this.#run) return // die was called in between
    go.run(instance).then(() => failed(new Error('it exited')), failed)
  }

  /**
   * Stops the module after an error from which it cannot recover. All collections fail.
   * @param {unknown} cause
   * @param {object} [run] the instance that failed; if another one runs already, the error does not concern it
   */
  die(cause, run = this.#run) {
    if (run !== this.#run) return
    const error = crashed('the WASM module crashed', cause)
    const sinks = [...this.#sinks.values()]
    this.#run?.end?.()
    this.#run = this.#idle = undefined
    this.#commands = []
    this.#sinks.clear()
    for (const sink of sinks) sink.failed(error)
  }

  /**
   * Follows a collection.
   * @param {any} spec
   * @param {Sink} sink
   */
  start(spec, sink) {
    const id = ++this.#last
    this.#sinks.set(id, sink)
    if (!this.#run) {
      const began = this.#begin(), run = this.#run
      began.catch((error) => this.die(error, run))
    }
    const endpoint = { ...spec.endpoint, token: sink.token ? String(id) : '' }
    this.#command({ do: 'start', id, ...spec, endpoint })
    return id
  }

  /** @param {number} id */
  stop(id) {
    if (this.#sinks.delete(id)) this.#command({ do: 'stop', id })
  }

  /** Makes all collections check at once whether their connections are alive. */
  wake() {
    if (this.#run) this.#command({ do: 'wake' })
  }

  /** @param {object} command */
  #command(command) {
    const text = JSON.stringify(command)
    if (!this.#idle) return void this.#commands.push(text)
    this.#idle(text)
    this.#idle = undefined
  }

  // The module calls these through the glue.

  ask = (/** @type {string} */ question, /** @type {Promise<void>} */ closed) => {
    const [what, id] = question.split(' ')
    switch (what) {
      case 'slot':
      case 'turn':
        return this.#slots.take(id, what === 'turn', closed)
      case 'token':
        return this.#sinks.get(Number(id))?.token?.() ?? ''
      case 'kept':
        return this.#sinks.get(Number(id))?.kept ?? new Uint8Array(0)
    }
    return this.#commands.shift() ?? new Promise((/** @type {(command: string) => void} */ resolve) => { this.#idle = resolve })
  }

  emit = (/** @type {number} */ id, /** @type {Uint8Array} */ bytes) => this.#sinks.get(id)?.records(bytes)
}

/**
 * @param {any} wasm
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm
  if (ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) return WebAssembly.compile(/** @type {BufferSource} */ (wasm))
  const response = await (typeof wasm === 'string' || wasm instanceof URL ? open(new URL(wasm, globalThis.location?.href)) : wasm)
  if (!(response instanceof Response)) throw new Error('wasm must be a URL, a Response, bytes or a module')
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`)
  // Streaming compilation requires this type.
  if (/^application\/wasm\b/.test(response.headers.get('Content-Type') ?? '')) return WebAssembly.compileStreaming(response)
  return WebAssembly.compile(await response.arrayBuffer())
}

/** @param {URL} url */
function open(url) {
  if (url.protocol !== 'file:') return fetch(url)
  const fs = /** @type {any} */ (globalThis).process.getBuiltinModule('node:fs') // bundlers would follow an import
  return new Response(fs.readFileSync(url), { headers: { 'Content-Type': 'application/wasm' } })
}
