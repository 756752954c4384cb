// The byte streams that the WASM module reads: response bodies and the host's answers. websocket.js implements the
// streams for WebSockets. A stream buffers bytes until the module reads them.

/** @import { GlueHost, HostAnswer, Lease } from './glue.js' */

import { later } from './later.js'

/** Special values of a stream's state and of the result of read. They must match internal/jsx. */
export const PENDING = -1, FAILED = -2, TOO_MUCH = -3, LOST = -4

/** @typedef {{ url: string, headers: [string, string][] }} Request */
/**
 * A stream of bytes for the program. `read` returns the number of bytes that it wrote, or PENDING, FAILED or TOO_MUCH.
 * @typedef {object} Stream
 * @property {number} state a status, a close code, or PENDING, FAILED or LOST
 * @property {string | undefined} [failure]
 * @property {string | null | undefined} [retryAfter]
 * @property {string | null | undefined} [etag]
 * @property {(view: () => Uint8Array) => number} read
 * @property {() => void} close
 */

let yielded = 0 // when schedule last yielded to the page

// Runs a function soon. Microtasks alone would block the page while bytes arrive, so it yields to the page's events every 8 ms,
// which is half of a frame.
/** @param {() => void} f */
function schedule(f) {
  if (performance.now() - yielded < 8) return queueMicrotask(f)
  later(() => {
    yielded = performance.now()
    f()
  })
}

/** A queue of bytes. */
export class Chunks {
  /** @type {Uint8Array[]} */
  list = []
  first = 0 // the index of the first unread chunk; Array.shift would take linear time
  offset = 0 // the number of bytes already read from the first chunk
  size = 0

  /** @param {Uint8Array} bytes */
  push(bytes) {
    if (!bytes.length) return
    this.list.push(bytes)
    this.size += bytes.length
  }

  get count() { return this.list.length - this.first }

  /**
   * Moves bytes into the memory of the module, and returns their number.
   * @param {() => Uint8Array} view returns the memory, whose buffer changes when it grows
   */
  move(view) {
    const into = view()
    let n = 0
    while (n < into.length && this.count) {
      const chunk = this.list[this.first], part = chunk.subarray(this.offset, this.offset + into.length - n)
      into.set(part, n)
      n += part.length
      this.offset += part.length
      if (this.offset === chunk.length) {
        delete this.list[this.first++] // frees the chunk
        this.offset = 0
      }
    }
    if (this.first > this.list.length / 2) { // rarely, because splice moves the unread chunks
      this.list.splice(0, this.first)
      this.first = 0
    }
    this.size -= n
    return n
  }
}

const KEPT_BY_REDIRECTS = /^(accept|accept-encoding|authorization|if-none-match)$/i

/**
 * The body of a response. The next part is requested after the module has read the previous one, so that a slow module
 * slows the server down. Ahead sets `readAhead` and `wake`, because it sends a request before the module exists.
 */
export class Body {
  state = PENDING
  /** @type {string | undefined} */
  failure
  /** @type {string | null | undefined} */
  retryAfter
  /** @type {string | null | undefined} */
  etag
  #chunks = new Chunks()
  #abort = new AbortController()
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
  #reader
  #waiting = true // whether a response or a part of the body is pending
  #ended = false
  readAhead = 0 // in bytes; how much to read before the module asks for it

  /** @param {string} url @param {[string, string][]} headers @param {string} credentials @param {() => void} wake */
  constructor(url, headers, credentials, wake) {
    this.wake = wake
    /** @type {RequestInit} */
    const options = { headers, cache: 'no-store', signal: this.#abort.signal }
    // After a redirect to another origin, browsers remove the token but no other header.
    if (headers.some(([name]) => !KEPT_BY_REDIRECTS.test(name))) options.redirect = 'error'
    if (credentials) options.credentials = /** @type {RequestCredentials} */ (credentials)
    fetch(url, options).then((response) => {
      this.#reader = response.body?.getReader()
      this.retryAfter = response.headers.get('Retry-After')
      this.etag = response.headers.get('ETag')
      this.state = response.status
      this.#afterRead(!this.#reader)
    }).catch((error) => this.#fail(error))
  }

  /** @param {boolean} ended */
  #afterRead(ended) {
    this.#waiting = false
    this.#ended = ended
    if (!ended && this.#chunks.size < this.readAhead) this.#pull()
    schedule(() => this.wake())
  }

  /** @param {unknown} error */
  #fail(error) {
    this.failure = explain(error)
    if (this.state === PENDING) this.state = FAILED
    this.#afterRead(true)
  }

  /** @param {() => Uint8Array} view */
  read(view) {
    if (this.#chunks.size) return this.#chunks.move(view)
    if (this.#ended) return this.failure === undefined ? 0 : FAILED
    if (!this.#waiting) this.#pull()
    return PENDING
  }

  #pull() {
    this.#waiting = true
    this.#reader?.read().then(({ done, value }) => {
      if (value) this.#chunks.push(value)
      this.#afterRead(done)
    }).catch((error) => this.#fail(error))
  }

  close() { this.#abort.abort() }
}

/** The host's answer to a question. If the answer is a lease, the stream ends when the host revokes the lease. */
export class HostResponse {
  state = PENDING
  /** @type {string | undefined} */
  failure
  close = () => {}
  #chunks = new Chunks()
  #leased = false
  #wake

  /** @param {string} question @param {GlueHost | undefined} host @param {() => void} wake */
  constructor(question, host, wake) {
    this.#wake = wake
    /** @type {Promise<void>} */
    const closed = new Promise((resolve) => { this.close = resolve })
    this.#receive(async () => host?.ask?.(question, closed) ?? '').then(() => this.#end(), (error) => {
      this.failure = explain(error)
      this.state = FAILED
      this.#end()
    })
  }

  /** @param {() => Promise<HostAnswer>} ask */
  async #receive(ask) {
    const answer = await ask()
    const { text = /** @type {string | Uint8Array} */ (answer), revoked } = /** @type {Partial<Lease>} */ (answer)
    this.#chunks.push(typeof text === 'string' ? new TextEncoder().encode(text) : text)
    this.state = 200
    if (!revoked) return
    this.#leased = true
    schedule(this.#wake)
    await revoked
  }

  #end() {
    this.#leased = false
    schedule(this.#wake)
  }

  /** @param {() => Uint8Array} view */
  read(view) {
    return this.#leased && !this.#chunks.size ? PENDING : this.#chunks.move(view)
  }
}

/** Describes an error. Browsers hide why a request failed, but Node reports the reason in `cause`. @param {any} error */
export function explain(error) {
  const cause = error?.cause?.message ?? error?.cause?.code
  return `${error?.name}: ${error?.message}${cause && !error.message.includes(cause) ? ` (${cause})` : ''}`
}
