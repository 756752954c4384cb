// The program in a worker: of one page, or of all tabs of an origin.

import { Engine } from './engine.js'
import { gone, hold } from './hold.js'
import { Host } from './host.js'
import { SharedHost } from './shared.js'

const shared = 'onconnect' in globalThis
const lock = shared ? hold() : ''
let host
const PATIENCE = 1000 // ms

if (shared) globalThis.onconnect = ({ ports: [port] }) => serve(port)
else serve(globalThis)

function serve(port) {
  const open = new Map() // what ends each, by the page's number
  const asked = new Map()
  let last = 0

  const ask = (id, what) => new Promise((resolve, reject) => {
    asked.set(++last, { resolve, reject, parts: [] })
    port.postMessage({ ask: last, id, what })
    if (what) hurry(last)
  })
  // A page that is frozen does not answer.
  const hurry = (n) => {
    const question = asked.get(n)
    clearTimeout(question.timer)
    question.timer = setTimeout(() => question.reject(new Error('no answer')), PATIENCE)
  }
  const client = (id) => ({
    records(bytes) {
      const copy = bytes.slice()
      port.postMessage({ records: id, bytes: copy }, [copy.buffer])
    },
    failed: ({ code, message }) => port.postMessage({ failed: id, code, message }),
    token: () => ask(id),
    retell: () => ask(id, 'retell'),
  })
  const leave = () => {
    for (const end of open.values()) end()
    open.clear()
    for (const { reject } of asked.values()) reject(new Error('the page is gone'))
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
    part({ part, bytes }) {
      asked.get(part).parts.push(bytes)
      hurry(part)
    },
    answer({ answer, token, failed }) {
      const { resolve, reject, parts, timer } = asked.get(answer)
      clearTimeout(timer)
      asked.delete(answer)
      if (failed) reject(new Error(failed))
      else resolve(token ?? parts)
    },
    async wake() {
      (await host).wake()
    },
  }
  port.onmessage = ({ data }) => messages[Object.keys(data)[0]](data)
}
