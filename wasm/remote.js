// Runs the collections of a page in a worker.

/** @import { PageClient } from './host.js' */
/** @import { FromPage, FromWorker, Port, Source } from './messages.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'
import { later } from './later.js'
import { holdLifetimeLock, lifetimeEnd } from './lifetime.js'
import { Channel, PROTOCOL, crashed, errorOf } from './messages.js'
import { notStarted, spawn } from './spawn.js'

/** @typedef {Channel<FromWorker, FromPage>} WorkerChannel */

const RESPONSE_TIMEOUT = 5000 // in ms; the longest wait for the first answer of a shared worker, which may just have closed

/**
 * The worker of a page. The states are:
 * - `starting`: the worker is not ready. Before the first start, no collection may be opened. Collections that are opened
 *   while a worker is replaced wait for the new worker.
 * - `ready`: the worker runs the collections. If the worker dies, a new one starts.
 * - `failed`: all collections have failed, and later ones fail immediately.
 */
export class Remote {
  /** @type {'starting' | 'ready' | 'failed'} */
  #state = 'starting'
  /** @type {ListWatchError | undefined} the cause of the state `failed` */
  #error
  #mode
  #wasm
  #script
  #failed
  /** @type {WorkerChannel | undefined} */
  #channel
  /** @type {(() => void) | undefined} */
  #stop
  /** @type {{ name: string, release: () => void } | undefined} held while this page uses the worker */
  #lock
  /** @type {Map<number, { client: PageClient, spec: Spec }>} */
  #opened = new Map()
  #last = 0 // the number of the last collection
  #unproven = false // whether the worker is a replacement in which no collection has been live yet
  /** @type {Set<string>} the servers that #preconnect has contacted */
  #preconnected = new Set()
  /** Whether the worker failed before its first answer. The browser may not allow this kind of worker, but another one. */
  refused = false

  /**
   * @param {'shared' | 'worker'} mode
   * @param {Source} wasm
   * @param {string | undefined} script the absolute URL of the worker's script
   * @param {() => void} failed is called when the state changes from `ready` to `failed`
   */
  constructor(mode, wasm, script, failed) {
    this.#mode = mode
    this.#wasm = wasm
    this.#script = script
    this.#failed = failed
  }

  /** Starts a worker. The promise rejects with a ListWatchError if the worker does not start. */
  async start() {
    this.#state = 'starting'
    this.refused = true // until the first answer
    try {
      if (this.#mode === 'shared') this.#lock ??= await holdLifetimeLock()
      const { port, stop, url } = spawn(this.#mode, this.#script, ({ message }) =>
        down(this.refused ? notStarted(this.#mode, url, message) : crashed('the worker failed', message)))
      this.#stop = stop
      const down = (/** @type {unknown} */ error) => this.#workerFailed(channel, error)
      const channel = this.#channel = this.#listen(port, down)
      // A dedicated worker needs no timeout, because it is new, and no lock, because it ends with the page.
      const lock = await channel.call({ type: 'hello', protocol: PROTOCOL, lock: this.#lock?.name ?? '' }, this.#mode === 'shared' ? RESPONSE_TIMEOUT : 0).finally(() => {
        this.refused = channel.ended
      })
      if (lock) lifetimeEnd(lock).then(() => this.#replace(channel)).catch(down)
      await channel.call({ type: 'load', wasm: this.#wasm })
      this.#state = 'ready'
    } catch (error) {
      const failure = this.#close(error)
      if (failure.code !== 'silent') throw failure
      // Chromium may connect a page to a shared worker that has just closed and never answers, so try again until a
      // worker answers. This is harmless for a worker that is only slow: it closes the first connection, whose lock is
      // released.
      await this.start()
    }
  }

  /**
   * @param {Port} port
   * @param {(error: unknown) => void} down
   * @returns {WorkerChannel}
   */
  #listen(port, down) {
    return new Channel(port, {
      records: ({ collection, bytes }) => this.#records(collection, bytes),
      failed: ({ collection, error }) => this.#opened.get(collection)?.client.failed(errorOf(error)),
      broken: ({ error }) => down(errorOf(error)),
      token: async ({ collection }) => await this.#opened.get(collection)?.client.token?.() ?? '',
      replay: ({ collection }, part) => this.#replay(collection, part),
    }, down)
  }

  /**
   * Handles an error that affects the whole worker.
   * @param {WorkerChannel} channel
   * @param {unknown} error
   */
  #workerFailed(channel, error) {
    if (channel !== this.#channel) return
    channel.end(error) // rejects the pending call of start(), unless the state is ready
    if (this.#state === 'ready') this.#fail(error)
  }

  /**
   * Replaces a worker that has died. A shared worker may crash together with another tab, and the browser may end any
   * worker. A replacement that dies before a collection is live is not replaced, because the next worker could crash,
   * too.
   * @param {WorkerChannel} channel
   */
  async #replace(channel) {
    if (channel !== this.#channel) return
    const gone = crashed('the worker is gone')
    if (this.#state !== 'ready' || this.#unproven) return this.#workerFailed(channel, gone)
    channel.end(gone)
    this.#unproven = true
    try {
      for (const { client } of this.#opened.values()) client.lost()
      await this.start()
      for (const [collection, { spec }] of this.#opened) this.#send({ type: 'open', collection, spec })
    } catch (error) {
      this.#fail(error)
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#state = 'failed'
    const failure = this.#error = this.#close(error)
    this.#failed() // runs first, so that a client that reopens its collection gets a new worker
    for (const { client } of this.#opened.values()) client.failed(failure)
  }

  /**
   * Disconnects from the worker and returns the error for its collections. It returns a ListWatchError unchanged.
   * @param {unknown} error
   */
  #close(error) {
    this.#channel?.end(error)
    this.#channel = undefined
    this.#stop?.()
    this.#lock?.release() // makes the shared worker close the collections of this page
    this.#lock = undefined
    return crashed('the worker failed', error)
  }

  /** @param {FromPage} message */
  #send(message) {
    if (this.#state === 'ready') this.#channel?.send(message)
  }

  /**
   * Opens a collection and returns a function that closes it.
   * @param {Spec} spec
   * @param {PageClient} client
   */
  open(spec, client) {
    const collection = ++this.#last
    if (this.#error) client.failed(this.#error)
    else this.#opened.set(collection, { client, spec })
    this.#send({ type: 'open', collection, spec })
    return () => {
      this.#opened.delete(collection)
      this.#send({ type: 'close', collection })
    }
  }

  wake() {
    this.#send({ type: 'wake' })
  }

  /**
   * @param {number} collection
   * @param {Uint8Array} bytes
   */
  #records(collection, bytes) {
    const opened = this.#opened.get(collection)
    if (!opened) return // the collection was closed
    const { client, spec: { endpoint: { server } } } = opened
    client.records(bytes)
    const { phase, cause, retryAt } = client.state()
    if (phase === 'live') {
      this.#unproven = false
      this.#preconnected.delete(server)
    }
    if (this.#mode === 'shared' && retryAt !== undefined && cause?.code === 'network') this.#preconnect(server)
  }

  /**
   * Connects to a server once and then wakes the worker. Chromium rejects a shared worker's connections to a server
   * that requests client certificates, until a page has connected to that server. Most kube-apiservers request them.
   * @param {string} server
   */
  #preconnect(server) {
    if (!server.startsWith('https:') || this.#preconnected.has(server)) return
    this.#preconnected.add(server)
    fetch(server, { mode: 'no-cors', credentials: 'omit', cache: 'no-store' }).then(() => this.wake(), (error) => {
      // If the server is down, fetch rejects with a TypeError, and the collection reports the failure.
      if (!(error instanceof TypeError)) throw error
      this.#preconnected.delete(server)
    })
  }

  /**
   * Sends the records of a collection in parts, and lets the page handle other events between them.
   * @param {number} collection
   * @param {(bytes: Uint8Array) => void} part
   */
  async #replay(collection, part) {
    const opened = this.#opened.get(collection)
    if (!opened) throw new ListWatchError('closed', 'listwatch: the collection was closed')
    for (const bytes of opened.client.replay()) {
      part(bytes)
      await new Promise((/** @type {(nothing: void) => void} */ resolve) => later(resolve))
    }
  }
}
