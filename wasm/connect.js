// Where the program runs: on this thread, in a worker of this page, or in one that all tabs share. What comes back opens
// collections, as host.js does.

import { Engine } from './engine.js'
import { gone, hold } from './hold.js'
import { Host } from './host.js'
import { ListWatchError } from './error.js'
import { later } from './streams.js'

export async function connect({ wasm, mode = best() }) {
  if (!['shared', 'worker', 'main'].includes(mode)) throw new ListWatchError('invalid', 'listwatch: mode must be "shared", "worker" or "main"')
  const needed = { shared: 'SharedWorker', worker: 'Worker' }[mode]
  if (needed && typeof globalThis[needed] !== 'function') {
    throw new ListWatchError('invalid', `listwatch: there is no ${needed} here: leave out mode, or say "main"`)
  }
  const made = mode === 'main' ? new Host(await Engine.load(wasm)) : await Remote.connect(mode, wasm)
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
  #mode
  #wasm
  #port
  #ready = false
  #lock // held by this page
  #clients = new Map()
  #last = 0
  #knocked = new Set() // servers

  static async connect(mode, wasm) {
    const remote = new Remote()
    remote.#mode = mode
    remote.#wasm = sendable(wasm)
    await remote.#start()
    return remote
  }

  async #start() {
    const shared = this.#mode === 'shared'
    const ready = new Promise((resolve, reject) => {
      this.#port = shared ? share(reject) : own(reject)
      this.#port.onmessage = ({ data }) => {
        if (data.ready) resolve(data.lock)
        else if (data.broken) reject(new ListWatchError('load', data.broken))
        else this.#said(data)
      }
    })
    // The shared worker is told that the page is gone by a lock, and the page by another one that the worker is.
    this.#lock ??= shared ? await hold() : ''
    this.#port.postMessage({ hello: this.#lock, wasm: this.#wasm })
    const lock = await ready
    this.#ready = true
    if (lock) gone(lock).then(() => this.#lost())
  }

  // The shared worker may crash together with another tab: the next one begins anew.
  async #lost() {
    this.#ready = false
    for (const client of this.#clients.values()) client.lost()
    try {
      await this.#start()
      for (const [id, { spec }] of this.#clients) this.#send({ open: id, spec })
    } catch (error) {
      for (const client of this.#clients.values()) client.failed(error)
    }
  }

  // What is said to a worker that is gone does not matter: the next one is told what is open.
  #send(message) {
    if (this.#ready) this.#port.postMessage(message)
  }

  open(spec, client) {
    const id = ++this.#last
    this.#clients.set(id, { ...client, spec })
    this.#send({ open: id, spec })
    return () => {
      this.#clients.delete(id)
      this.#send({ close: id })
    }
  }

  wake() {
    this.#send({ wake: true })
  }

  #said({ records, bytes, failed, code, message, ask, id, what }) {
    if (records && this.#clients.has(records)) {
      const client = this.#clients.get(records)
      client.records(bytes)
      if (this.#mode === 'shared') this.#knock(client.spec.endpoint.server, client.state())
    } else if (failed) this.#clients.get(failed)?.failed(new ListWatchError(code, message))
    else if (ask) this.#answer(ask, id, what)
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

  async #answer(ask, id, what) {
    try {
      const client = this.#clients.get(id)
      if (!what) return this.#send({ answer: ask, token: await client?.token() ?? '' })
      for (const bytes of client.retell()) {
        this.#send({ part: ask, bytes })
        await new Promise(later)
      }
      this.#send({ answer: ask })
    } catch (error) {
      this.#send({ answer: ask, failed: String(error?.message ?? error) })
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

function sendable(wasm) {
  if (wasm === undefined || typeof wasm === 'string' || wasm instanceof URL) return wasm && new URL(wasm, location.href).href
  if (wasm instanceof WebAssembly.Module || ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) return wasm
  throw new ListWatchError('invalid', 'listwatch: a worker needs wasm as a URL, bytes or a module')
}
