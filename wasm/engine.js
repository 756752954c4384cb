// The engine runs the WASM module and sends it commands. After a crash, the next collection restarts the module.

/** @import { Ahead } from './ahead.js' */
/** @import { GlueHost } from './glue.js' */
/** @import { Source } from './messages.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'
import { glue } from './glue.js'
import { makeGo } from './go.js'
import { suffixOf, crashed } from './messages.js'
import { Slots } from './slots.js'
import { BUNDLERS, isBytes } from './source.js'

/**
 * Describes a collection for the module. `indexes` lists the indexed fields, and `needs` lists the fields that a
 * projection must keep for the indexes.
 * @typedef {Omit<Spec, 'asks' | 'indexes' | 'persist' | 'resource' | 'token'> & { group?: string, version?: string,
 * plural?: string, indexes: string[], needs: string[], restored: boolean }} Watch
 */
/**
 * Receives the records of one collection.
 * @typedef {object} Sink
 * @property {(bytes: Uint8Array) => void} records must not keep the bytes
 * @property {(error: ListWatchError) => void} failed
 * @property {(() => string | Promise<string>) | undefined} token returns a bearer token
 * @property {Uint8Array | undefined} saved the saved rows if the watch is `restored`
 */

export class Engine {
  #module
  /** @type {{ end?: () => void } | undefined} the running instance; undefined after a crash */
  #run
  /** @type {string[]} the commands that the module has not requested yet */
  #commands = []
  /** @type {((command: string) => void) | undefined} receives the next command while the module waits for it */
  #idle
  /** @type {Map<number, Sink>} by watch ID */
  #sinks = new Map()
  #last = 0 // the ID of the last watch
  #slots = new Slots()
  #ahead

  /** @param {WebAssembly.Module} module @param {Ahead} [ahead] */
  constructor(module, ahead) {
    this.#module = module
    this.#ahead = ahead
  }

  /** Loads and starts the module. @param {Source | Response | Promise<Source | Response>} wasm @param {Ahead} [ahead] the requests that were sent ahead */
  static async load(wasm, ahead) {
    try {
      const engine = new Engine(await compile(await wasm), ahead)
      await engine.#begin()
      return engine
    } catch (cause) {
      throw new ListWatchError('load', `listwatch: the WASM module could not be loaded${suffixOf(cause)}. ${BUNDLERS}`, { cause })
    }
  }

  /** Starts an instance of the module. */
  async #begin() {
    const go = new (makeGo())()
    /** @type {{ end?: () => void }} */
    const run = this.#run = {}
    const failed = (/** @type {unknown} */ error) => this.die(error, run)
    const host = { ask: this.#ask, emit: (/** @type {number} */ id, /** @type {Uint8Array} */ bytes) => this.#sinks.get(id)?.records(bytes), crashed: failed, ahead: this.#ahead }
    run.end = glue(go, host)
    const instance = await WebAssembly.instantiate(this.#module, go.importObject)
    if (run !== this.#run) return // die() was called during the instantiation
    go.run(instance).then(() => failed(new Error('it exited')), failed)
  }

  /**
   * Stops the module after an error from which it cannot recover. All collections fail.
   * @param {unknown} cause
   * @param {object} [run] the instance that failed; the error is ignored if another instance is running
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

  /** Starts a watch and returns the ID to pass to `stop`. @param {Watch} watch @param {Sink} sink */
  start(watch, sink) {
    const id = ++this.#last
    this.#sinks.set(id, sink)
    if (!this.#run) {
      const began = this.#begin(), run = this.#run
      began.catch((error) => this.die(error, run))
    }
    const endpoint = { ...watch.endpoint, token: sink.token ? String(id) : '' }
    this.#command({ do: 'start', id, ...watch, endpoint })
    return id
  }

  /** @param {number} id */
  stop(id) {
    if (this.#sinks.delete(id)) this.#command({ do: 'stop', id })
  }

  /** Makes all collections immediately check whether their connections are alive. */
  wake() {
    if (this.#run) this.#command({ do: 'wake' })
  }

  /** Sends a command to the module, or queues it until the module requests one. @param {object} command */
  #command(command) {
    const text = JSON.stringify(command)
    if (!this.#idle) return void this.#commands.push(text)
    this.#idle(text)
    this.#idle = undefined
  }

  /** Answers a question such as "token 1", or the request for the next command. @type {NonNullable<GlueHost['ask']>} */
  #ask = (question, closed) => {
    const [kind, subject] = question.split(' ')
    switch (kind) {
      case 'slot':
      case 'turn':
        return this.#slots.acquire(subject, kind === 'turn', closed)
      case 'token':
        return this.#sinks.get(Number(subject))?.token?.() ?? ''
      case 'kept':
        return this.#sinks.get(Number(subject))?.saved ?? ''
    }
    return this.#commands.shift() ?? new Promise((resolve) => { this.#idle = resolve })
  }
}

/** @param {Source | Response} wasm @returns {Promise<WebAssembly.Module>} */
async function compile(wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm
  if (isBytes(wasm)) return WebAssembly.compile(wasm)
  const response = typeof wasm === 'string' ? await fetch(wasm) : wasm
  const { ok, url, status, headers } = response
  if (!ok) throw new Error(`${url} answers ${status}`)
  // A server may answer an unknown URL with the page of the application, and the compiler's error would not say so.
  if (/^text\/html\b/.test(headers.get('Content-Type') ?? '')) throw new Error(`${url} answers with an HTML page`)
  try {
    // This fails if the browser lacks compileStreaming, the content type is not application/wasm, or the response is from another realm.
    return await WebAssembly.compileStreaming(response)
  } catch (error) {
    if (response.bodyUsed) throw error
    return WebAssembly.compile(await response.arrayBuffer())
  }
}
