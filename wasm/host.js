// A host opens collections for its clients: for the page that it runs in, or for the pages that its worker serves.

/** @import { Engine, Sink } from './engine.js' */
/** @import { ListWatchError } from './error.js' */
/** @import { Spec } from './spec.js' */
/** @import { State } from './types.js' */

import { crashed } from './messages.js'
import { Persistence } from './persist.js'
import { parseResource } from './resources.js'

/**
 * A Client receives the records of one collection.
 * @typedef {object} Client
 * @property {(bytes: Uint8Array) => void} records applies records and must not keep the bytes
 * @property {(error: ListWatchError) => void} failed reports that the watch has ended; after a crash, the collection opens again
 * @property {(() => string | Promise<string>) | undefined} [token] returns a bearer token; defined if `spec.asks` is true
 */
/**
 * A client in a page. `replay` returns records that recreate the collection in another page.
 * @typedef {Client & { state: () => State, replay: () => Iterable<Uint8Array> }} PageClient
 */

export class Host {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine
  }

  wake() { this.engine.wake() }

  /** Opens a collection and returns a function that closes it. @param {Spec} spec @param {Client} client */
  open(spec, client) {
    const watch = new CollectionWatch(this.engine, spec, client)
    return () => watch.end()
  }
}

/** Watches one collection and saves its state. */
export class CollectionWatch {
  #client
  #engine
  /** @type {number | undefined} */
  #id
  /** @type {Persistence | undefined} */
  #saved
  #ended = false

  /** @param {Engine} engine @param {Spec} spec @param {Client} client */
  constructor(engine, spec, client) {
    this.#engine = engine
    this.#client = client
    this.#start(spec).catch((error) => this.#fail(crashed('the collection could not be opened', error)))
  }

  /** @param {Spec} spec */
  async #start(spec) {
    const { token, asks, persist, indexes, resource, ...rest } = spec
    const named = resource === undefined ? {} : parseResource(resource)
    const saved = persist ? await this.#restore(spec) : undefined
    if (this.#ended) return
    /** @type {Sink} */
    const sink = {
      records: (bytes) => this.#records(bytes),
      failed: (error) => this.#fail(error),
      token: token ? () => token : asks ? () => this.#client.token?.() ?? '' : undefined,
      saved,
    }
    const fields = Object.values(indexes)
    // A projection cannot select a single array element, so it keeps the field in all elements.
    const needs = fields.map((field) => field.replace(/\\.|\[\d+\]/g, (part) => (part[0] === '[' ? '[*]' : part)))
    this.#id = this.#engine.start({ ...rest, ...named, indexes: fields, needs, restored: !!saved }, sink)
  }

  /**
   * Opens and loads the saved state. It returns the saved rows if a watch can resume from them.
   * @param {Spec} spec
   * @returns {Promise<Uint8Array | undefined>}
   */
  async #restore(spec) {
    const saved = await Persistence.open(spec)
    this.#saved = saved
    if (this.#ended) saved.close()
    else return saved.load((bytes) => this.#records(bytes, true))
  }

  /** @param {Uint8Array} bytes */
  #records(bytes, fromDisk = false) {
    if (this.#ended) return
    if (!fromDisk) this.#saved?.save(bytes)
    this.#client.records(bytes)
  }

  /** @param {ListWatchError} error */
  #fail(error) {
    if (this.#ended) return
    this.end()
    this.#client.failed(error)
  }

  end() {
    if (this.#ended) return
    this.#ended = true
    if (this.#id !== undefined) this.#engine.stop(this.#id)
    this.#saved?.close()
  }
}
