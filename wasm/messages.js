// The messages between a page and its worker, and the channel that both sides use.

import { ListWatchError } from './error.js'

/**
 * The version of the messages. Increase it with every incompatible change of `Message`, and with it the worker's name in
 * remote.js. A page and a worker from different deployments can meet.
 */
export const PROTOCOL = 1

/**
 * A message has a `type`. A call also has an `id`, which its sender chose; the other side answers with `answer` or `refused`.
 * `collection` is the number of a collection, which the page chose.
 *
 * @typedef {{ code?: string, message: string, status?: number, reason?: string }} Failure
 *
 * @typedef {(
 *   | { type: 'hello', id: number, protocol: number, lock: string }
 *   | { type: 'load', id: number, wasm?: Source }
 *   | { type: 'open', collection: number, spec: any }
 *   | { type: 'close', collection: number }
 *   | { type: 'wake' }
 * )} FromPage
 * `hello` comes first; `lock` is held while the page lives, and the answer is the lock that is held while the worker lives.
 * `load` loads the WASM module; the other messages may follow its answer. `wake` makes all collections check their connections.
 *
 * @typedef {(
 *   | { type: 'records', collection: number, bytes: Uint8Array }
 *   | { type: 'failed', collection: number, error: Failure }
 *   | { type: 'broken', error: Failure }
 *   | { type: 'token', id: number, collection: number }
 *   | { type: 'retell', id: number, collection: number }
 * )} FromWorker
 * `failed` stops one collection. `broken` stops all collections of the page: the worker does not understand the page.
 * `token` asks for a bearer token. `retell` asks for records that describe the collection; they come in parts.
 *
 * @typedef {(
 *   | { type: 'part', id: number, bytes: Uint8Array }
 *   | { type: 'answer', id: number, value?: any }
 *   | { type: 'refused', id: number, error: Failure }
 * )} Reply
 *
 * @typedef {FromPage | FromWorker | Reply} Message
 * @typedef {string | BufferSource | WebAssembly.Module} Source
 */

/** @typedef {{ postMessage(message: any, transfer?: Transferable[]): void, onmessage: any, onmessageerror: any }} Port */

/**
 * @typedef {object} Call
 * @property {(value: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {Uint8Array[]} parts
 * @property {number} [patience]
 * @property {ReturnType<typeof setTimeout>} [timer]
 */

/**
 * Numbered requests and responses over a port, and messages without a response.
 *
 * A call is pending until it is answered, refused or timed out, or the channel ends. Then it leaves the map.
 */
export class Channel {
  /** @type {Port} */
  #port
  #handlers
  #report
  /** @type {Map<number, Call>} the calls that wait for an answer */
  pending = new Map()
  #last = 0
  /** @type {Error | undefined} */
  #ended

  /**
   * @param {Port} port
   * @param {Record<string, (message: any, part: (bytes: Uint8Array) => void) => any>} handlers by the type of message; the
   * result of a handler, or what its promise resolves with, answers a call
   * @param {(error: Error) => void} report is called for a message that is not understood
   */
  constructor(port, handlers, report) {
    this.#port = port
    this.#handlers = handlers
    this.#report = report
    port.onmessage = (/** @type {MessageEvent} */ { data }) => this.#take(data)
    port.onmessageerror = () => report(misunderstood('an unreadable message'))
  }

  /** @param {any} message @param {Transferable[]} [transfer] */
  send(message, transfer) {
    if (!this.#ended) this.#port.postMessage(message, transfer)
  }

  /**
   * Sends a call. The promise resolves with the value of the answer or, if it has none, with its parts.
   * @param {any} message without its id
   * @param {number} [patience] how long the other side may be silent, in milliseconds; by default for ever
   * @returns {Promise<any>}
   */
  call(message, patience) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw this.#ended
      const id = ++this.#last
      this.send({ ...message, id })
      /** @type {Call} */
      const call = { resolve, reject, parts: [], patience }
      this.pending.set(id, call)
      this.#hurry(id, call)
    })
  }

  /**
   * Rejects all pending calls and all later ones. Nothing is sent or received any more.
   * @param {Error} error
   */
  end(error) {
    if (this.#ended) return
    this.#ended = error
    this.#port.onmessage = this.#port.onmessageerror = null
    for (const id of [...this.pending.keys()]) this.#settle(id)?.reject(error)
  }

  get ended() {
    return this.#ended !== undefined
  }

  /**
   * Starts the timeout of a call again.
   * @param {number} id
   * @param {Call} call
   */
  #hurry(id, call) {
    clearTimeout(call.timer)
    const { patience } = call
    if (patience) call.timer = setTimeout(() => this.#settle(id)?.reject(new Error(`no answer within ${patience} ms`)), patience)
  }

  /** @param {number} id */
  #settle(id) {
    const call = this.pending.get(id)
    clearTimeout(call?.timer)
    this.pending.delete(id)
    return call
  }

  /** @param {any} message */
  #take(message) {
    const { type, id, bytes, value, error } = message ?? {}
    const call = this.pending.get(id)
    if (Object.hasOwn(this.#handlers, type)) this.#handle(message)
    else if (!['part', 'answer', 'refused'].includes(type) || !(id <= this.#last)) this.#report(misunderstood(`the message ${type} ${id}`))
    else if (!call) return // it has timed out
    else if (type === 'part') {
      call.parts.push(bytes)
      this.#hurry(id, call)
    } else {
      this.#settle(id)
      if (type === 'refused') call.reject(errorOf(error))
      else call.resolve(value ?? call.parts)
    }
  }

  /** @param {any} message */
  async #handle(message) {
    const { type, id } = message
    try {
      const value = await this.#handlers[type](message, (bytes) => this.send({ type: 'part', id, bytes }))
      if (id) this.send({ type: 'answer', id, value })
    } catch (error) {
      if (id) this.send({ type: 'refused', id, error: plain(error) })
      else this.#report(crashed(`the message ${type} failed`, error))
    }
  }
}

/** @param {string} what */
const misunderstood = (what) => new ListWatchError('load', `listwatch: the page and its worker do not understand ${what}; reload the page`)

/** @param {any} error */
export const messageOf = (error) => String(error?.message ?? error)

/** @param {unknown} cause */
export const because = (cause) => (cause === undefined ? '' : `: ${messageOf(cause)}`)

/**
 * Returns an error in a form that every port can carry.
 * @param {any} error
 * @returns {Failure}
 */
export const plain = (error) => ({ code: error?.code, message: messageOf(error), status: error?.status, reason: error?.reason })

/** @param {Failure} failure */
export const errorOf = ({ code, message, status, reason }) =>
  code ? new ListWatchError(/** @type {any} */ (code), message, { status, reason }) : new Error(message)

/**
 * Returns the error for a collection whose worker or WASM module crashed.
 * @param {string} what
 * @param {unknown} [cause]
 */
export const crashed = (what, cause) =>
  new ListWatchError('crashed', `listwatch: ${what}${because(cause)}; open the collection again`, { cause })
