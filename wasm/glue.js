/** @import { Go } from './go.js' */
/** @import { Request, Stream } from './streams.js' */

import { HostResponse, Body, FAILED } from './streams.js'
import { Messages } from './websocket.js'

/**
 * A `Go` object from Go's wasm_exec.js.
 * @typedef {{ importObject: WebAssembly.Imports }} GoProgram
 */
/**
 * An answer that the program may use for a limited time. The lease ends when `revoked` resolves or the program closes the stream.
 * @typedef {{ text: string, revoked: Promise<void> }} Lease
 */
/**
 * The answer to a question from the program.
 * @typedef {string | Uint8Array | Lease} HostAnswer
 */
/**
 * The functions that the program calls.
 * @typedef {object} GlueHost
 * @property {(question: string, closed: Promise<void>) => HostAnswer | Promise<HostAnswer>} [ask] Answers a question. `closed` resolves when the program closes the stream.
 * @property {(id: number, bytes: Uint8Array) => void} [emit] Receives bytes that are valid only during the call. `id` identifies their receiver, not a stream.
 * @property {(error: unknown) => void} [crashed] Receives the error when the program crashes. By default, the callback that ran the program throws it.
 */

/**
 * Adds the imports of transport/http and transport/ws to a Go program. Call it before the program is instantiated. It returns
 * a function that stops the program and closes its connections.
 * @param {GoProgram} program
 * @param {GlueHost} [host]
 * @returns {() => void}
 */
export function glue(program, host) {
  const go = /** @type {Go} */ (program)
  /** @type {Map<number, Request>} the requests that the program has not started yet */
  const requests = new Map()
  /** @type {Map<number, Stream>} */
  const streams = new Map()
  const decoder = new TextDecoder()
  const { ahead } = /** @type {{ ahead?: import('./ahead.js').Ahead }} */ (host ?? {}) // only engine.js sets it
  let last = 0

  const end = () => {
    go.exited = true
    go._scheduledTimeouts.forEach((timer) => clearTimeout(timer))
    go._scheduledTimeouts.clear()
    streams.forEach((stream) => stream.close())
    streams.clear()
  }
  // Runs `part` of the program. If `part` throws, the program cannot continue, so it is stopped.
  const run = (/** @type {() => void} */ part) => {
    if (go.exited) return
    try {
      part()
    } catch (error) {
      end()
      if (!host?.crashed) throw error
      host.crashed(error)
    }
  }
  const resumeAll = go._resume
  go._resume = () => run(() => resumeAll.call(go)) // the timers of wasm_exec.js call _resume, too

  const view = (/** @type {number} */ pointer, /** @type {number} */ length) => new Uint8Array(go._inst.exports.mem.buffer, pointer, length)
  const string = (/** @type {number} */ pointer, /** @type {number} */ length) => decoder.decode(view(pointer, length))
  const request = (/** @type {number} */ id) => /** @type {Request} */ (requests.get(id))
  const start = (/** @type {number} */ id, /** @type {Stream} */ stream) => {
    requests.delete(id)
    streams.set(id, stream)
  }
  const wake = (/** @type {number} */ id) => () => {
    if (!streams.has(id)) return
    run(() => go._inst.exports.listwatch_wake(id))
    go._resume() // listwatch_wake only makes a goroutine runnable; this runs the goroutines until all of them block
  }

  /** @type {Record<string, (...args: number[]) => number | void>} */
  const imports = {
    open(pointer, length) { // the string is a URL, or a question if the program then calls `ask`
      requests.set(++last, { url: string(pointer, length), headers: [] })
      return last
    },
    add(id, name, nameLength, value, valueLength) {
      request(id).headers.push([string(name, nameLength), string(value, valueLength)])
    },
    fetch(id, pointer, length) {
      const { url, headers } = request(id)
      const credentials = string(pointer, length)
      start(id, ahead?.take(url, headers, credentials, wake(id)) ?? new Body(url, headers, credentials, wake(id)))
    },
    socket(id, limit) { // the headers are subprotocols without names, because a page cannot set headers of a WebSocket
      const { url, headers } = request(id)
      start(id, new Messages(url, headers.map(([, value]) => value), limit, wake(id)))
    },
    ask(id) {
      start(id, new HostResponse(request(id).url, host, wake(id)))
    },
    emit: (id, pointer, length) => host?.emit?.(id, view(pointer, length)),
    state: (id) => streams.get(id)?.state ?? FAILED,
    read: (id, pointer, length) => streams.get(id)?.read(() => view(pointer, length)) ?? FAILED, // no view is created for PENDING
    text(id, kind, pointer, length) { // `kind` is failure, retryAfter or etag of internal/jsx; length 0 returns the text's length
      const stream = streams.get(id)
      const bytes = new TextEncoder().encode([stream?.failure, stream?.retryAfter, stream?.etag][kind] ?? '')
      if (length) view(pointer, length).set(bytes.subarray(0, length))
      return Math.min(bytes.length, length || Infinity)
    },
    close(id) {
      streams.get(id)?.close()
      streams.delete(id)
    },
  }
  go.importObject.listwatch = imports
  return end
}
