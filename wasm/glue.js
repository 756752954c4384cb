// What the Go program imports from JavaScript: byte streams over fetch and WebSocket. Each is an entry of a table, and is
// named by its number. Bytes wait on this side until they are read; the program is woken, and comes for them.

import { Answer, Body, FAILED, Messages } from './streams.js'

/**
 * What the WASM module asks of and reports to JavaScript. `ask(question)` returns the answer or a promise of it. `emit(id,
 * bytes)` gets bytes that are valid only during the call. `crashed(error)` gets a trap of the module; without it, glue
 * throws the trap.
 * @typedef {object} GlueHost
 * @property {(question: string) => string | Uint8Array | Promise<string | Uint8Array>} [ask]
 * @property {(id: number, bytes: Uint8Array) => void} [emit]
 * @property {(error: unknown) => void} [crashed]
 */

/**
 * Adds the imports of transport/http and transport/ws to a Go program. Call it before the program is instantiated. It returns
 * a function that stops the program and closes its connections.
 * @param {any} go a `Go` of Go's wasm_exec.js
 * @param {GlueHost} [host]
 * @returns {() => void}
 */
export function glue(go, host) {
  /** @type {Map<number, any>} */
  const streams = new Map()
  const decoder = new TextDecoder()
  let last = 0

  const end = () => {
    go.exited = true
    go._scheduledTimeouts.forEach((/** @type {number} */ timer) => clearTimeout(timer))
    go._scheduledTimeouts.clear()
    streams.forEach((stream) => stream.close?.())
    streams.clear()
  }
  // Runs a part of the program. The program cannot continue after an exception, so it ends.
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
  go._resume = () => run(() => resumeAll.call(go)) // the timers of wasm_exec.js call it, too

  const view = (/** @type {number} */ pointer, /** @type {number} */ length) => new Uint8Array(go._inst.exports.mem.buffer, pointer, length)
  const string = (/** @type {number} */ pointer, /** @type {number} */ length) => decoder.decode(view(pointer, length))
  const resume = (/** @type {number} */ id) => {
    if (!streams.has(id)) return
    run(() => go._inst.exports.listwatch_wake(id))
    go._resume() // runs the goroutines until all wait
  }

  /** @type {Record<string, (...args: any[]) => any>} */
  const imports = {
    open(pointer, length) {
      streams.set(++last, { url: string(pointer, length), headers: [] })
      return last
    },
    add(id, name, nameLength, value, valueLength) {
      streams.get(id).headers.push([string(name, nameLength), string(value, valueLength)])
    },
    fetch(id, pointer, length) {
      const { url, headers } = streams.get(id)
      streams.set(id, new Body(url, headers, string(pointer, length), () => resume(id)))
    },
    socket(id, limit) {
      const { url, headers } = streams.get(id)
      streams.set(id, new Messages(url, headers.map((/** @type {string[]} */ [, value]) => value), limit, () => resume(id)))
    },
    ask(id) {
      const { url } = streams.get(id)
      streams.set(id, new Answer(url, host, () => resume(id)))
    },
    emit: (id, pointer, length) => host?.emit?.(id, view(pointer, length)),
    state: (id) => streams.get(id)?.state ?? FAILED,
    read: (id, pointer, length) => streams.get(id)?.read(() => view(pointer, length)) ?? FAILED,
    text(id, what, pointer, length) {
      const stream = streams.get(id)
      const bytes = new TextEncoder().encode((what ? stream?.retryAfter : stream?.failure) ?? '')
      if (length) view(pointer, length).set(bytes.subarray(0, length))
      return Math.min(bytes.length, length || Infinity)
    },
    close(id) {
      streams.get(id)?.close?.()
      streams.delete(id)
    },
  }
  go.importObject.listwatch = imports
  return end
}
