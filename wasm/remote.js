// Runs the collections of a page in a worker.

/** @import { PageClient } from './host.js' */
/** @import { FromPage, FromWorker, Port, Source } from './messages.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'
import { later } from './later.js'
import { holdLifetimeLock, lifetimeEnd } from './lifetime.js'
import { Channel, PROTOCOL, crashed, errorOf, messageOf } from './messages.js'
import { notStarted, spawn } from './spawn.js'

/** @typedef {Channel<FromWorker, FromPage>} WorkerChannel */

// The longest wait for the first answer of a worker, in ms. A shared worker may just have closed. A dedicated worker is new,
// so it only needs time to load.
const RESPONSE_TIMEOUT = { shared: 5000, worker: 20_000 }

/** A worker that runs the collections of a page. After a failure, it stays failed, and the page needs another one. */
export class Remote {
  #ready = false // whether collections can be opened
  /** @type {ListWatchError | undefined} the reason why the worker has failed */
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
  /** @type {Set<string>} the servers that #preconnect has contacted */
  #preconnected = new Set()
  /** Whether the worker failed before its first answer. The browser may not allow this kind of worker, but another one. */
  refused = false

  /**
   * @param {'shared' | 'worker'} mode
   * @param {Source} wasm
   * @param {string | undefined} script the absolute URL of the worker's script
   * @param {() => void} failed is called if the worker fails after it has started
   */
  constructor(mode, wasm, script, failed) {
    this.#mode = mode
    this.#wasm = wasm
    this.#script = script
    this.#failed = failed
  }

  /**
   * Starts the worker. The promise rejects with a ListWatchError if the worker does not start.
   *
   * Chromium may connect a page to a shared worker that has just closed and never answers, so a shared worker has two
   * attempts. This is harmless for a worker that is only slow: it closes the first connection, whose lock is released.
   * @returns {Promise<void>}
   */
  async start(attempts = this.#mode === 'shared' ? 2 : 1) {
    /** @type {URL | undefined} */
    let url
    this.refused = true // until the first answer
    try {
      if (this.#mode === 'shared') this.#lock = await holdLifetimeLock() // a dedicated worker ends with the page
      const spawned = spawn(this.#mode, this.#script, ({ message }) =>
        down(this.refused ? notStarted(this.#mode, spawned.url, message) : crashed('the worker failed', message)))
      this.#stop = spawned.stop
      url = spawned.url
      const down = (/** @type {unknown} */ error) => this.#workerFailed(channel, error)
      const channel = this.#channel = this.#listen(spawned.port, down)
      const lock = await channel.call({ type: 'hello', protocol: PROTOCOL, lock: this.#lock?.name ?? '' }, RESPONSE_TIMEOUT[this.#mode]).finally(() => {
        this.refused = channel.ended
      })
      if (lock) lifetimeEnd(lock).then(() => down(crashed('the worker is gone'))).catch(down)
      await channel.call({ type: 'load', wasm: this.#wasm })
      this.#ready = true
    } catch (error) {
      const failure = this.#close(error)
      if (failure.code !== 'silent') throw failure
      if (attempts > 1) return this.start(attempts - 1)
      this.refused = true
      throw url ? notStarted(this.#mode, url, failure) : failure
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
   * Handles an error that affects the whole worker. A shared worker may crash together with another tab, and the browser
   * may end any worker.
   * @param {WorkerChannel} channel
   * @param {unknown} error
   */
  #workerFailed(channel, error) {
    if (channel !== this.#channel) return
    channel.end(error) // rejects the pending call of start(), unless the worker is ready
    if (!this.#ready) return
    const failure = this.#error = this.#close(error)
    this.#failed() // runs first, so that a client that reopens its collection gets a new worker
    for (const { client } of [...this.#opened.values()]) client.failed(failure)
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

  /**
   * Opens a collection and returns a function that closes it.
   * @param {Spec} spec
   * @param {PageClient} client
   */
  open(spec, client) {
    const collection = ++this.#last
    if (this.#error) client.failed(this.#error)
    else this.#opened.set(collection, { client, spec })
    this.#channel?.send({ type: 'open', collection, spec })
    return () => {
      this.#opened.delete(collection)
      this.#channel?.send({ type: 'close', collection })
    }
  }

  wake() {
    this.#channel?.send({ type: 'wake' })
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
    if (phase === 'live') this.#preconnected.delete(server)
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
      this.#preconnected.delete(server)
      // If the server is down, fetch rejects with a TypeError, and the collection reports the failure. A page can replace fetch.
      if (!(error instanceof TypeError)) console.warn(`listwatch: ${server} could not be reached from the page: ${messageOf(error)}`)
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
