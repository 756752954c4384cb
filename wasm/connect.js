// Where the program runs: on this thread, in a worker of this page, or in one that all tabs share. What comes back opens
// collections, as host.js does.

import { Engine } from './engine.js'
import { Host } from './host.js'
import { ListWatchError } from './error.js'

export async function connect({ wasm, mode = best() }) {
  if (!['shared', 'worker', 'main'].includes(mode)) throw new ListWatchError('invalid', 'listwatch: mode must be "shared", "worker" or "main"')
  const needed = { shared: 'SharedWorker', worker: 'Worker' }[mode]
  if (needed && typeof globalThis[needed] !== 'function') {
    throw new ListWatchError('invalid', `listwatch: there is no ${needed} here: leave out mode, or say "main"`)
  }
  const made = mode === 'main' ? new Host(await Engine.load(wasm), false) : await Remote.connect(mode, wasm)
  // A tab that slept, or was without a network, does not wait until it notices.
  globalThis.document?.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && made.wake())
  for (const event of ['online', 'pageshow']) globalThis.addEventListener?.(event, () => made.wake())
  return made
}

function best() {
  if (!globalThis.document || typeof Worker !== 'function') return 'main' // a page that a test makes has none
  return typeof SharedWorker === 'function' ? 'shared' : 'worker'
}

/** The host in a worker, as the page sees it. */
class Remote {
  #port
  #clients = new Map()
  #last = 0
  #shared
  #knocked = new Set() // servers

  static async connect(mode, wasm) {
    const remote = new Remote()
    remote.#shared = mode === 'shared'
    const ready = new Promise((resolve, reject) => {
      remote.#port = mode === 'shared' ? share(reject) : own(reject)
      remote.#port.onmessage = ({ data }) => {
        if (data.ready) resolve()
        else if (data.broken) reject(new ListWatchError('load', data.broken))
        else remote.#said(data)
      }
    })
    // The worker is told that the page is gone by a lock, which falls even when the page crashes.
    const lock = mode === 'shared' ? await hold() : ''
    remote.#port.postMessage({ hello: lock, wasm: sendable(wasm) })
    await ready
    return remote
  }

  open(spec, client) {
    const id = ++this.#last
    const { server } = spec.endpoint
    this.#clients.set(id, { ...client, server })
    this.#port.postMessage({ open: id, spec })
    return () => {
      this.#clients.delete(id)
      this.#port.postMessage({ close: id })
    }
  }

  wake() {
    this.#port.postMessage({ wake: true })
  }

  #said({ records, bytes, failed, code, message, ask, id }) {
    if (records && this.#clients.has(records)) {
      const client = this.#clients.get(records)
      client.records(bytes)
      if (this.#shared) this.#knock(client.server, client.state())
    } else if (failed) this.#clients.get(failed)?.failed(new ListWatchError(code, message))
    else if (ask) this.#answer(ask, id)
  }

  // Chromium refuses a shared worker the connection to a server that asks for client certificates, as most apiservers do,
  // until a page has been there. So where nothing comes through, the page goes there, and then has the worker try again:
  // once, as the reason may be another one.
  async #knock(server, { phase, cause }) {
    if (phase === 'live') this.#knocked.delete(server)
    if (phase !== 'interrupted' || cause.code !== 'network' || !server.startsWith('https:') || this.#knocked.has(server)) return
    this.#knocked.add(server)
    try {
      await fetch(server, { mode: 'no-cors', credentials: 'omit', cache: 'no-store' })
      this.wake()
    } catch {
      this.#knocked.delete(server) // it is away
    }
  }

  async #answer(ask, id) {
    try {
      this.#port.postMessage({ answer: ask, token: await this.#clients.get(id)?.token() ?? '' })
    } catch (error) {
      this.#port.postMessage({ answer: ask, failed: String(error?.message ?? error) })
    }
  }
}

// What is passed to new URL and to the constructors is written so that bundlers find the worker.

function share(reject) {
  const worker = new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'listwatch' })
  worker.onerror = () => reject(new ListWatchError('load', 'listwatch: the shared worker could not be loaded'))
  return worker.port
}

function own(reject) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'listwatch' })
  worker.onerror = () => reject(new ListWatchError('load', 'listwatch: the worker could not be loaded'))
  return worker
}

/** Takes a lock for as long as the page lives, and returns its name. */
async function hold() {
  if (!navigator.locks) return '' // in an insecure context: a page that crashes is not noticed
  const name = `listwatch ${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  await new Promise((held) => navigator.locks.request(name, () => {
    held()
    return new Promise(() => {})
  }))
  return name
}

function sendable(wasm) {
  if (wasm === undefined || typeof wasm === 'string' || wasm instanceof URL) return wasm && new URL(wasm, location.href).href
  if (wasm instanceof WebAssembly.Module || ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) return wasm
  throw new ListWatchError('invalid', 'listwatch: a worker needs wasm as a URL, bytes or a module')
}
