// What the Go program imports from JavaScript: byte streams over fetch and WebSocket. Each is an entry of a table, and is
// named by its number. Bytes wait on this side until they are read; the program is woken, and comes for them.

import { Answer, Body, FAILED, Messages } from './streams.js'

/**
 * Adds to a Go program's imports what transport/http and transport/ws need in a browser, in a worker or in Node. Call it
 * before the program is instantiated.
 * @param go a `Go` of Go's wasm_exec.js
 * @param host what the program of this package asks and tells: `ask(question)` returns the answer's bytes or text, or a
 * promise of it, and `emit(id, bytes)` is given bytes that are valid during the call
 */
export function glue(go, host) {
  const streams = new Map()
  const decoder = new TextDecoder()
  let last = 0

  const view = (pointer, length) => new Uint8Array(go._inst.exports.mem.buffer, pointer, length)
  const string = (pointer, length) => decoder.decode(view(pointer, length))
  const resume = (id) => {
    if (go.exited || !streams.has(id)) return
    go._inst.exports.listwatch_wake(id)
    go._resume() // runs the goroutines until all wait
  }

  go.importObject.listwatch = {
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
      streams.set(id, new Messages(url, headers.map(([, value]) => value), limit, () => resume(id)))
    },
    ask(id) {
      const { url } = streams.get(id)
      streams.set(id, new Answer(url, host, () => resume(id)))
    },
    emit: (id, pointer, length) => host.emit(id, view(pointer, length)),
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
}
