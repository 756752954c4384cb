// The host opens collections for clients: for the page that it runs in, or for the pages of its worker.

import { crashed } from './messages.js'
import { Kept } from './persist.js'

/** @typedef {import('./engine.js').Engine} Engine */

/**
 * A client of a collection. It must not keep the bytes of `records`. `retell` returns records that describe all that the
 * client was told; the SharedWorker needs it.
 * @typedef {object} Client
 * @property {(bytes: Uint8Array) => void} records
 * @property {(error: Error) => void} failed
 * @property {() => string | Promise<string>} [token] if `spec.asks`
 * @property {() => Promise<Uint8Array[]>} [retell]
 */

export class Host {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine
  }

  wake() {
    this.engine.wake()
  }

  /**
   * Opens a collection and returns a function that ends it.
   * @param {any} spec
   * @param {Client} client
   */
  open(spec, client) {
    const followed = new Followed(this.engine, spec, client)
    return () => followed.end()
  }
}

/** One collection that the engine follows, and its saved state. */
export class Followed {
  #client
  #engine
  /** @type {number | undefined} */
  #id
  /** @type {Kept | undefined} */
  #kept
  #ended = false

  /**
   * @param {Engine} engine
   * @param {any} spec
   * @param {Client} client
   */
  constructor(engine, spec, client) {
    this.#engine = engine
    this.#client = client
    this.#start(spec).catch((error) => this.#fail(crashed('the collection could not be opened', error)))
  }

  /** @param {any} spec */
  async #start(spec) {
    /** @type {import('./engine.js').Sink} */
    const sink = {
      records: (bytes) => this.#records(bytes),
      failed: (error) => this.#fail(error),
      token: spec.token ? () => spec.token : spec.asks ? () => this.#client.token?.() ?? '' : undefined,
    }
    if (spec.persist && await this.#restore(spec)) sink.kept = this.#kept?.rows()
    if (this.#ended) return
    const { token, asks, persist, indexes, ...rest } = spec
    /** @type {string[]} */
    const paths = Object.values(indexes)
    // Projections name all elements of an array.
    const needs = paths.map((path) => path.replace(/\\.|\[\d+\]/g, (part) => (part[0] === '[' ? '[*]' : part)))
    this.#id = this.#engine.start({ ...rest, indexes: paths, needs, restored: !!sink.kept }, sink)
  }

  /**
   * Opens and loads the saved state. It returns whether a watch can resume from that state.
   * @param {any} spec
   */
  async #restore(spec) {
    const kept = await Kept.open(spec)
    if (this.#ended) return kept.close()
    this.#kept = kept
    return kept.load((/** @type {Uint8Array} */ bytes) => this.#records(bytes, true))
  }

  /** @param {Uint8Array} bytes */
  #records(bytes, kept = false) {
    if (this.#ended) return
    if (!kept) this.#kept?.note(bytes)
    this.#client.records(bytes)
  }

  /** @param {Error} error */
  #fail(error) {
    if (this.#ended) return
    this.end()
    this.#client.failed(error)
  }

  end() {
    if (this.#ended) return
    this.#ended = true
    if (this.#id !== undefined) this.#engine.stop(this.#id)
    this.#kept?.close()
  }
}
