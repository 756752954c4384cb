// Implements the stream of a WebSocket.

import { later } from './later.js'
import { Chunks, FAILED, LOST, PENDING, TOO_MUCH, explain } from './streams.js'

const MESSAGE_COST = 200 // in bytes; the memory of an unread message in addition to its content, which counts for the limit
const NEWLINE = new Uint8Array([10])

/** The messages of a WebSocket, joined by newlines like the events of a watch over HTTP. A burst wakes the module only once. */
export class Messages {
  state = PENDING
  /** @type {string | undefined} */
  failure
  #chunks = new Chunks()
  /** @type {WebSocket | undefined} */
  #socket
  #limit
  #received = false // whether a message has arrived, so that the next one needs a newline
  #exceeded = false // whether the unread messages have exceeded the limit
  #closed = false
  #waking = false // whether a call of #wake is due
  #wake

  /**
   * @param {string} url
   * @param {string[]} protocols
   * @param {number} limit the maximum number of unread bytes
   * @param {() => void} wake
   */
  constructor(url, protocols, limit, wake) {
    this.#wake = wake
    this.#limit = limit
    try {
      if (typeof WebSocket === 'undefined') throw new Error('WebSocket is missing: use Node 22 or later')
      const socket = this.#socket = new WebSocket(url, withOrigin(url, protocols))
      socket.binaryType = 'arraybuffer'
      socket.onopen = () => this.#change(101)
      socket.onmessage = ({ data }) => this.#receive(data)
      socket.onclose = ({ code, reason }) => this.#end(code, reason)
      // After a rejected handshake, Node 20 sends only this event. Otherwise a close event follows.
      socket.onerror = () => this.state === PENDING && this.#end()
    } catch (error) {
      this.failure = explain(error)
      this.state = FAILED
    }
  }

  #end(code = 0, reason = '') {
    const opened = this.state !== PENDING
    if (this.#closed) return
    this.#closed = true
    this.failure = opened ? reason : 'the WebSocket could not be opened'
    // If the server closes a WebSocket immediately, Firefox sends only the close event and drops the messages. The code 1006
    // means that no close frame has arrived, for example after a rejected handshake.
    this.#change(opened ? code : code && code !== 1006 ? LOST : FAILED)
  }

  /** @param {number} state */
  #change(state) {
    this.state = state
    this.#wakeOnce()
  }

  #wakeOnce() {
    if (this.#waking) return
    this.#waking = true
    later(() => {
      this.#waking = false
      this.#wake()
    })
  }

  /** @param {string | ArrayBuffer} data */
  #receive(data) {
    if (this.#exceeded) return
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
    if (this.#chunks.size + bytes.length + MESSAGE_COST * this.#chunks.count > this.#limit) {
      this.#exceeded = true
      this.close()
    } else {
      if (this.#received) this.#chunks.push(NEWLINE)
      this.#received = true
      this.#chunks.push(bytes)
    }
    this.#wakeOnce()
  }

  /** @param {() => Uint8Array} view */
  read(view) {
    if (this.#chunks.size) return this.#chunks.move(view)
    if (this.#exceeded) return TOO_MUCH
    return this.#closed ? 0 : PENDING
  }

  close() {
    const socket = this.#socket
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null
    socket.close()
  }
}

/**
 * Adds the Origin header that a kube-apiserver requires. Browsers always send this header, but Node needs an option.
 * @param {string} url
 * @param {string[]} protocols
 */
function withOrigin(url, protocols) {
  if (globalThis.document || !globalThis.process?.versions?.node) return protocols
  return /** @type {any} */ ({ protocols, headers: { Origin: new URL(url.replace(/^ws/, 'http')).origin } })
}
