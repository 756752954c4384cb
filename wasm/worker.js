// The program in a worker: of one page, or of all tabs of an origin.

import { Engine } from './engine.js'
import { gone, hold } from './hold.js'
import { Host } from './host.js'
import { SharedHost } from './shared.js'

const PATIENCE = 1000 // ms

// What a page is asked, and has not answered yet.
class Questions {
  #port
  #asked = new Map()
  #last = 0

  constructor(port) {
    this.#port = port
  }

  /** Resolves with a token, or, of another question, with the parts of an answer. */
  ask(id, what) {
    return new Promise((resolve, reject) => {
      this.#asked.set(++this.#last, { resolve, reject, parts: [] })
      this.#port.postMessage({ ask: this.#last, id, what })
      if (what) this.#hurry(this.#last)
    })
  }

  // A page that is frozen does not answer.
  #hurry(n) {
    const question = this.#asked.get(n)
    clearTimeout(question.timer)
    question.timer = setTimeout(() => question.reject(new Error('no answer')), PATIENCE)
  }

  part(n, bytes) {
    this.#asked.get(n).parts.push(bytes)
    this.#hurry(n)
  }

  answer(n, token, failed) {
    const { resolve, reject, parts, timer } = this.#asked.get(n)
    clearTimeout(timer)
    this.#asked.delete(n)
    if (failed) reject(new Error(failed))
    else resolve(token ?? parts)
  }

  giveUp() {
    for (const { reject } of this.#asked.values()) reject(new Error('the page is gone'))
  }
}

const shared = 'onconnect' in globalThis
const lock = shared ? hold() : ''
let host

if (shared) globalThis.onconnect = ({ ports: [port] }) => serve(port)
else serve(globalThis)

function serve(port) {
  const open = new Map() // what ends each, by the page's number
  const questions = new Questions(port)

  const client = (id) => ({
    records(bytes) {
      const copy = bytes.slice()
      port.postMessage({ records: id, bytes: copy }, [copy.buffer])
    },
    failed: ({ code, message }) => port.postMessage({ failed: id, code, message }),
    token: () => questions.ask(id),
    retell: () => questions.ask(id, 'retell'),
  })
  const leave = () => {
    for (const end of open.values()) end()
    open.clear()
    questions.giveUp()
  }

  const messages = {
    async hello({ hello, wasm }) {
      if (hello) gone(hello).then(leave)
      try {
        host ??= Engine.load(wasm).then((engine) => new (shared ? SharedHost : Host)(engine))
        await host
        port.postMessage({ ready: true, lock: await lock })
      } catch (error) {
        host = undefined
        port.postMessage({ broken: error.message })
      }
    },
    async open({ open: id, spec }) {
      open.set(id, (await host).open(spec, client(id)))
    },
    close({ close: id }) {
      open.get(id)?.()
      open.delete(id)
    },
    part: ({ part, bytes }) => questions.part(part, bytes),
    answer: ({ answer, token, failed }) => questions.answer(answer, token, failed),
    async wake() {
      (await host).wake()
    },
  }
  port.onmessage = ({ data }) => messages[Object.keys(data)[0]](data)
}
