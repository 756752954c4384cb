// The streams that the program reads: the body of a response, an answer of the host, the messages of a WebSocket. What came
// waits here until it is read.

/** What stands in place of a status, a code or a number of bytes; internal/jsx has the same. */
export const PENDING = -1, FAILED = -2, TOO_MUCH = -3, LOST = -4

// The microtasks that follow each other while bytes are there would keep the page from drawing. So now and then what is to
// be done next is put behind what the host has to do. Timers would not do: hidden pages hold them back.
export const later = (() => {
  if (typeof setImmediate === 'function') return setImmediate
  const { port1, port2 } = new MessageChannel()
  const waiting = []
  port1.onmessage = () => waiting.shift()()
  return (f) => {
    waiting.push(f)
    port2.postMessage(0)
  }
})()

let yielded = 0
function soon(f) {
  if (performance.now() - yielded < 8) return f()
  later(() => {
    yielded = performance.now()
    f()
  })
}

// chunks are what came and was not read.
class Chunks {
  list = []
  first = 0 // of the list, that was not read to its end: to shift each out would take as long as the list is
  offset = 0
  size = 0

  push(bytes) {
    if (!bytes.length) return
    this.list.push(bytes)
    this.size += bytes.length
  }

  get count() {
    return this.list.length - this.first
  }

  // moves as much as fits into a view of the program's memory, which is made only now: memory that grew is another buffer.
  move(view) {
    const into = view()
    let n = 0
    while (n < into.length && this.count) {
      const chunk = this.list[this.first], part = chunk.subarray(this.offset, this.offset + into.length - n)
      into.set(part, n)
      n += part.length
      this.offset += part.length
      if (this.offset === chunk.length) {
        this.list[this.first++] = undefined
        this.offset = 0
      }
    }
    if (this.first > this.list.length / 2) {
      this.list.splice(0, this.first)
      this.first = 0
    }
    this.size -= n
    return n
  }
}

const OURS = /^(accept|accept-encoding|authorization)$/i

/** The body of a response. The next part is asked for when the one before it has been read. */
export class Body {
  state = PENDING
  chunks = new Chunks()
  #abort = new AbortController()
  #reader
  #reading = false
  #ended = false
  #wake

  constructor(url, headers, credentials, wake) {
    this.#wake = wake
    const options = { headers, cache: 'no-store', signal: this.#abort.signal }
    // The host keeps the token from where a redirect leads to, and no other header.
    if (headers.some(([name]) => !OURS.test(name))) options.redirect = 'error'
    if (credentials) options.credentials = credentials
    fetch(url, options).then((response) => {
      this.#reader = response.body?.getReader()
      this.#ended = !this.#reader
      this.retryAfter = response.headers.get('Retry-After')
      this.state = response.status
    }).catch((error) => this.#fail(error)).then(() => soon(wake))
  }

  #fail(error) {
    this.failure = explain(error)
    this.#ended = true
    if (this.state === PENDING) this.state = FAILED
  }

  read(view) {
    if (this.chunks.size) return this.chunks.move(view)
    if (this.#ended) return this.failure === undefined ? 0 : FAILED
    if (!this.#reading) this.#pull()
    return PENDING
  }

  #pull() {
    this.#reading = true
    this.#reader.read().then(({ done, value }) => {
      this.#ended = done
      if (value) this.chunks.push(value)
    }).catch((error) => this.#fail(error)).then(() => {
      this.#reading = false
      soon(this.#wake)
    })
  }

  close() {
    this.#abort.abort()
  }
}

/**
 * The host's answer to a question: text, bytes, or `{ text, over }` for something that the host lends until the stream is
 * closed. That stream ends when the promise `over` resolves. The host is given a promise that resolves when it is closed.
 */
export class Answer {
  state = PENDING
  chunks = new Chunks()
  #lent

  constructor(question, host, wake) {
    const closed = new Promise((resolve) => { this.close = resolve })
    Promise.resolve(question).then((question) => host.ask(question, closed)).then(async (answer) => {
      const { text = answer, over } = answer
      this.chunks.push(typeof text === 'string' ? new TextEncoder().encode(text) : text)
      this.state = 200
      if (!over) return
      this.#lent = true
      soon(wake)
      await over
    }).catch((error) => {
      this.failure = explain(error)
      this.state = FAILED
    }).then(() => {
      this.#lent = false
      soon(wake)
    })
  }

  read(view) {
    return this.#lent && !this.chunks.size ? PENDING : this.chunks.move(view)
  }
}

/** The messages of a WebSocket, joined by newlines. A burst of them wakes the program once. */
export class Messages {
  state = PENDING
  chunks = new Chunks()
  #socket
  #limit
  #between = false
  #exceeded = false
  #closed = false
  #waking = false
  #wake

  constructor(url, protocols, limit, wake) {
    this.#wake = wake
    this.#limit = limit
    try {
      if (typeof WebSocket === 'undefined') throw new Error('WebSocket is missing: use Node 22 or later, or --experimental-websocket')
      this.#socket = new WebSocket(url, withOrigin(url, protocols))
    } catch (error) {
      this.failure = explain(error)
      this.state = FAILED
      return
    }
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onopen = () => this.#changed(101)
    this.#socket.onmessage = ({ data }) => this.#take(data)
    this.#socket.onclose = ({ code, reason }) => this.#ended(code, reason)
    this.#socket.onerror = () => { // comes alone in Node 20 when the handshake is refused; else the closing follows
      if (this.state === PENDING) this.#ended()
    }
  }

  #ended(code, reason) {
    const opened = this.state !== PENDING
    if (this.#closed) return
    this.#closed = true
    this.failure = opened ? reason : 'the WebSocket could not be opened'
    // Firefox tells of nothing but the end, where that came together with the beginning: what came in between is lost.
    this.#changed(opened ? code : code && code !== 1006 ? LOST : FAILED)
  }

  #changed(state) {
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

  #take(data) {
    if (this.#exceeded) return
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
    // What a message costs beside its bytes counts, or a million empty ones would be as good as none.
    if (this.chunks.size + bytes.length + MESSAGE * this.chunks.count > this.#limit) {
      this.#exceeded = true
      this.close()
    } else {
      if (this.#between) this.chunks.push(NEWLINE)
      this.#between = true
      this.chunks.push(bytes)
    }
    this.#wakeOnce()
  }

  read(view) {
    if (this.chunks.size) return this.chunks.move(view)
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

// A kube-apiserver refuses who tells no origin. A page's browser does; Node has to be told.
function withOrigin(url, protocols) {
  if (globalThis.document || !globalThis.process?.versions?.node) return protocols
  return { protocols, headers: { Origin: new URL(url.replace(/^ws/, 'http')).origin } }
}

const MESSAGE = 200 // bytes
const NEWLINE = new Uint8Array([10])

// A browser tells a page very little, on purpose; Node says more in the cause.
function explain(error) {
  const cause = error?.cause?.message ?? error?.cause?.code
  return `${error?.name}: ${error?.message}${cause && !error.message.includes(cause) ? ` (${cause})` : ''}`
}
