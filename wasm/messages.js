// The messages between a page and its worker, and the channel that both sides use.

/** @import { ErrorCode } from './types.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'

/**
 * The version of the messages. A page and its worker may come from different deployments. So every incompatible change
 * of `Message` must increase this number, and the number in the worker's name in spawn.js.
 */
export const PROTOCOL = 2

/**
 * Every message has a `type`. A call also has an `id`, which its sender chooses. The other side replies to a call with
 * `answer` or `refused`. `collection` is a number that the page chooses for each collection.
 *
 * @typedef {{ code?: ErrorCode, message: string, status?: number, reason?: string }} Failure
 *
 * @typedef {(
 *   | { type: 'hello', id: number, protocol: number, lock: string }
 *   | { type: 'load', id: number, wasm: Source }
 *   | { type: 'open', collection: number, spec: Spec }
 *   | { type: 'close', collection: number }
 *   | { type: 'wake' }
 * )} FromPage
 * `hello` is the first message. It names a lock that the page holds while it is alive, and the answer names the worker's lock,
 * or "" if there is none. `load` loads the WASM module. The other messages follow `load`, but do not wait for its answer, so that
 * the worker can request lists in the meantime. `wake` makes all collections check their connections.
 *
 * @typedef {(
 *   | { type: 'records', collection: number, bytes: Uint8Array }
 *   | { type: 'failed', collection: number, error: Failure }
 *   | { type: 'broken', error: Failure }
 *   | { type: 'token', id: number, collection: number }
 *   | { type: 'replay', id: number, collection: number }
 * )} FromWorker
 * `failed` ends the watch of one collection. `broken` ends all watches of the page, because the worker could not handle a message.
 * `token` asks for a bearer token. `replay` asks for records that recreate the collection. They arrive as `part` messages.
 *
 * @typedef {(
 *   | { type: 'part', id: number, bytes: Uint8Array }
 *   | { type: 'answer', id: number, value: unknown }
 *   | { type: 'refused', id: number, error: Failure }
 * )} Reply
 *
 * @typedef {FromPage | FromWorker | Reply} Message
 * @typedef {string | BufferSource | WebAssembly.Module} Source
 * @typedef {{ hello: string, load: void, token: string, replay: Uint8Array[] }} Answers the answers by the type of the call
 */

/**
 * A call without its id.
 * @template {FromPage | FromWorker} M
 * @typedef {M extends { id: number } ? Omit<M, 'id'> : never} Call
 */

/**
 * Handlers by message type. If the message is a call, the result of its handler is the answer.
 * @template {FromPage | FromWorker} M
 * @typedef {{ [T in M['type']]: (message: Extract<M, { type: T }>, part: (bytes: Uint8Array) => void) => unknown }} Handlers
 */

/**
 * @typedef {object} Port
 * @property {(message: Message, transfer: Transferable[]) => void} postMessage
 * @property {((this: any, event: MessageEvent) => void) | null} onmessage
 * @property {((this: any, event: MessageEvent) => void) | null} onmessageerror
 */

/**
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {Uint8Array[]} parts
 * @property {number | undefined} timeout
 * @property {ReturnType<typeof setTimeout>} [timer]
 */

/**
 * Sends and receives calls, their answers, and messages without an answer over a port. A call stays in `pending` until it is
 * answered or refused, it times out, or the channel ends.
 * @template {FromPage | FromWorker} In
 * @template {FromPage | FromWorker} Out
 */
export class Channel {
  #port
  /** @type {Record<string, (message: any, part: (bytes: Uint8Array) => void) => unknown>} */
  #handlers
  #report
  /** @type {Map<number, Pending>} the calls that wait for an answer */
  pending = new Map()
  #last = 0 // the id of the last call
  /** @type {unknown} the error that ended the channel */
  #ended

  /**
   * @param {Port} port
   * @param {Handlers<In>} handlers
   * @param {(error: ListWatchError) => void} report receives the error if a message is unknown or its handler fails
   */
  constructor(port, handlers, report) {
    this.#port = port
    this.#handlers = handlers
    this.#report = report
    port.onmessage = ({ data }) => this.#receive(data)
    port.onmessageerror = () => report(protocolError('unreadable message'))
  }

  /** @param {Out | Reply} message @param {Transferable[]} [transfer] */
  send(message, transfer = []) {
    if (!this.#ended) this.#port.postMessage(message, transfer)
  }

  /**
   * Sends a call. The promise resolves with the answer's value, or with its parts if it has no value.
   * @template {Call<Out> & { type: keyof Answers }} C
   * @param {C} message
   * @param {number} [timeout] the longest wait for the answer or its next part, in milliseconds. Default: no limit.
   * @returns {Promise<Answers[C['type']]>}
   */
  call(message, timeout) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw this.#ended
      const id = ++this.#last
      this.send(/** @type {any} */ ({ ...message, id }))
      /** @type {Pending} */
      const call = { resolve, reject, parts: [], timeout }
      this.pending.set(id, call)
      this.#startTimer(id, call)
    })
  }

  /** Rejects all pending and later calls. The channel then sends and receives nothing. @param {unknown} error */
  end(error) {
    if (this.#ended) return
    this.#ended = error
    this.#port.onmessage = this.#port.onmessageerror = null
    for (const id of [...this.pending.keys()]) this.#settle(id)?.reject(error)
  }

  /** Starts or restarts the timeout of a call. @param {number} id @param {Pending} call */
  #startTimer(id, call) {
    clearTimeout(call.timer)
    const { timeout } = call
    if (timeout) call.timer = setTimeout(() => this.#settle(id)?.reject(new ListWatchError('silent', `listwatch: no answer within ${timeout} ms`)), timeout)
  }

  /** Removes and returns a pending call. @param {number} id */
  #settle(id) {
    const call = this.pending.get(id)
    clearTimeout(call?.timer)
    this.pending.delete(id)
    return call
  }

  /** @param {any} message may come from another version of this package, so its members may be missing */
  #receive(message) {
    const { type, id, bytes, value, error } = message ?? {}
    const call = this.pending.get(id)
    if (Object.hasOwn(this.#handlers, type)) this.#handle(message)
    else if (!['part', 'answer', 'refused'].includes(type) || !(id <= this.#last)) this.#report(protocolError(`unexpected message: ${type} ${id}`))
    else if (!call) return // the call has timed out
    else if (type === 'part') {
      call.parts.push(bytes)
      this.#startTimer(id, call)
    } else {
      this.#settle(id)
      if (type === 'refused') call.reject(errorOf(error))
      else call.resolve(value ?? call.parts)
    }
  }

  /** @param {{ type: string, id: number }} message */
  #handle(message) {
    const { type, id } = message
    const handled = async () => {
      const value = await this.#handlers[type]?.(message, (bytes) => this.send({ type: 'part', id, bytes }))
      if (id) this.send({ type: 'answer', id, value })
    }
    handled().catch((error) => {
      if (id) this.send({ type: 'refused', id, error: failureOf(error) })
      else this.#report(crashed(`the message ${type} failed`, error))
    })
  }
}

/** @param {string} subject */
export const protocolError = (subject) => new ListWatchError('load', `listwatch: the page and its worker are incompatible (${subject}); reload the page`)

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error))

/** @param {unknown} cause */
export const suffixOf = (cause) => (cause === undefined ? '' : `: ${messageOf(cause)}`)

/** Converts an error to an object that can be sent over a port. @param {unknown} error @returns {Failure} */
export const failureOf = (error) => {
  const { code, status, reason } = /** @type {Failure} */ (Object(error))
  return /** @type {Failure} */ ({ code, message: messageOf(error), status, reason })
}

/** Recreates an error that the other side sent. @param {Failure} failure */
export const errorOf = ({ code = 'crashed', message, status, reason }) => new ListWatchError(code, message, { status, reason })

/**
 * Returns the error for a collection whose worker or WASM module crashed. If the cause is a ListWatchError, it is
 * returned unchanged.
 * @param {string} subject
 * @param {unknown} [cause]
 */
export const crashed = (subject, cause) => (cause instanceof ListWatchError ? cause
  : new ListWatchError('crashed', `listwatch: ${subject}${suffixOf(cause)}`, { cause }))
