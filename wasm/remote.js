// The host in a worker, as the page sees it.

import { gone, hold } from './hold.js'
import { Channel, PROTOCOL, crashed, errorOf } from './messages.js'
import { notStarted, spawn } from './spawn.js'
import { later } from './streams.js'

/**
 * The client of a collection in a page; collection.js makes it.
 * @typedef {object} PageClient
 * @property {(bytes: Uint8Array) => void} records
 * @property {(error: Error) => void} failed
 * @property {() => void} lost the worker is gone, and another one follows
 * @property {() => any} state
 * @property {() => Iterable<Uint8Array>} retell
 * @property {() => string | Promise<string>} [token]
 */

/**
 * What runs in the worker of a page. The states are:
 * - `starting`: the worker is not ready. Collections wait.
 * - `ready`: the worker has the collections. If it dies, another one is started.
 * - `failed`: all collections have failed, and later ones fail at once.
 */
export class Remote {
  /** @type {'starting' | 'ready' | 'failed'} */
  #state = 'starting'
  /** @type {Error | undefined} of the state failed */
  #error
  #mode
  #wasm
  #failed
  /** @type {Channel | undefined} */
  #channel
  /** @type {(() => void) | undefined} */
  #stop
  /** @type {{ name: string, release: () => void } | undefined} held while this page uses the worker */
  #lock
  /** @type {Map<number, PageClient & { spec: any }>} */
  #opened = new Map()
  #last = 0
  /** @type {Set<string>} servers */
  #knocked = new Set()
  /** Whether no worker runs because the browser refused to start one. Another kind of worker may work. */
  refused = false

  /**
   * @param {'shared' | 'worker'} mode
   * @param {any} wasm
   * @param {(error: Error) => void} failed is called when the state changes from `ready` to `failed`
   */
  constructor(mode, wasm, failed) {
    this.#mode = mode
    this.#wasm = wasm
    this.#failed = failed
  }

  /** Starts a worker. The promise rejects if that fails. */
  async start() {
    this.#state = 'starting'
    this.refused = true
    try {
      if (this.#mode === 'shared') this.#lock ??= await hold()
      const { port, stop, url } = spawn(this.#mode, ({ message }) =>
        down(this.refused ? notStarted(this.#mode, url, message) : crashed('the worker failed', message)))
      this.#stop = stop
      const down = (/** @type {unknown} */ error) => this.#down(channel, error)
      const channel = this.#channel = this.#listen(port, down)
      const lock = await channel.call({ type: 'hello', protocol: PROTOCOL, lock: this.#lock?.name ?? '' }).finally(() => {
        this.refused = channel.ended
      })
      if (lock) gone(lock).then(() => this.#lost(channel), down)
      await channel.call({ type: 'load', wasm: this.#wasm })
      this.#state = 'ready'
    } catch (error) {
      this.#close(error)
      throw error
    }
  }

  /**
   * @param {import('./messages.js').Port} port
   * @param {(error: unknown) => void} down
   */
  #listen(port, down) {
    return new Channel(port, {
      records: ({ collection, bytes }) => this.#records(collection, bytes),
      failed: ({ collection, error }) => this.#opened.get(collection)?.failed(errorOf(error)),
      broken: ({ error }) => down(errorOf(error)),
      token: async ({ collection }) => await this.#opened.get(collection)?.token?.() ?? '',
      retell: ({ collection }, part) => this.#retell(collection, part),
    }, down)
  }

  /**
   * Handles an error of the worker as a whole.
   * @param {Channel} channel
   * @param {any} error
   */
  #down(channel, error) {
    if (channel !== this.#channel) return
    channel.end(error) // start is waiting for an answer unless the state is ready
    if (this.#state === 'ready') this.#fail(error)
  }

  /**
   * A shared worker may crash together with another tab, and the browser may end any worker. Another one is started.
   * @param {Channel} channel
   */
  async #lost(channel) {
    if (channel !== this.#channel) return
    channel.end(crashed('the worker is gone'))
    if (this.#state !== 'ready') return
    try {
      for (const client of this.#opened.values()) client.lost()
      await this.start()
      for (const [collection, { spec }] of this.#opened) this.#send({ type: 'open', collection, spec })
    } catch (error) {
      this.#fail(error)
    }
  }

  /** @param {any} error */
  #fail(error) {
    this.#state = 'failed'
    this.#error = error
    this.#close(error)
    this.#failed(error) // first, so that a client that opens the collection again gets another worker
    for (const client of this.#opened.values()) client.failed(error)
  }

  /** @param {any} error */
  #close(error) {
    this.#channel?.end(error)
    this.#channel = undefined
    this.#stop?.()
    this.#lock?.release() // so that the shared worker ends the collections of this page
    this.#lock = undefined
  }

  /** @param {import('./messages.js').FromPage} message */
  #send(message) {
    if (this.#state === 'ready') this.#channel?.send(message)
  }

  /**
   * Opens a collection and returns a function that ends it.
   * @param {any} spec
   * @param {PageClient} client
   */
  open(spec, client) {
    const collection = ++this.#last
    if (this.#error) client.failed(this.#error)
    else this.#opened.set(collection, { ...client, spec })
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
    const client = this.#opened.get(collection)
    if (!client) return // it was closed
    client.records(bytes)
    if (this.#mode === 'shared') this.#knock(client.spec.endpoint.server, client.state())
  }

  /**
   * Chromium refuses a shared worker the connection to a server that asks for client certificates, until a page has connected.
   * Most kube-apiservers ask for them. So the page connects once and then wakes the worker.
   * @param {string} server
   * @param {any} state
   */
  async #knock(server, { phase, cause }) {
    if (phase === 'live') this.#knocked.delete(server)
    if (phase !== 'interrupted' || cause.code !== 'network' || !server.startsWith('https:') || this.#knocked.has(server)) return
    this.#knocked.add(server)
    try {
      await fetch(server, { mode: 'no-cors', credentials: 'omit', cache: 'no-store' })
      this.wake()
    } catch {
      this.#knocked.delete(server) // the server is down, which the collection shows; the next interruption knocks again
    }
  }

  /**
   * @param {number} collection
   * @param {(bytes: Uint8Array) => void} part
   */
  async #retell(collection, part) {
    const client = this.#opened.get(collection)
    if (!client) throw new Error('the collection is closed')
    for (const bytes of client.retell()) {
      part(bytes)
      await new Promise((next) => later(() => next(undefined)))
    }
  }
}
