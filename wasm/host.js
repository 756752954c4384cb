// The host opens collections for its client: a page, the one that it is in, or that of its worker.

import { Kept } from './persist.js'

export class Host {
  engine

  constructor(engine) {
    this.engine = engine
  }

  wake() {
    this.engine.wake()
  }

  /**
   * Opens a collection for a client, which has `records(bytes)`, `failed(error)`, and `token()` if `spec.asks`. It must not
   * keep the bytes. Returns what ends it.
   */
  open(spec, client) {
    const followed = new Followed(this.engine, spec, client)
    return () => followed.end()
  }
}

export class Followed {
  #client
  #engine
  #id
  #kept
  #ended = false

  constructor(engine, spec, client) {
    this.#engine = engine
    this.#client = client
    this.#start(spec)
  }

  async #start(spec) {
    const sink = {
      records: (bytes) => this.#records(bytes),
      failed: (error) => this.#client.failed(error),
      token: spec.token ? () => spec.token : spec.asks ? () => this.#client.token() : undefined,
    }
    if (spec.persist) {
      this.#kept = await Kept.open(spec)
      if (await this.#kept.load((bytes) => this.#records(bytes, true))) sink.kept = this.#kept.rows()
    }
    if (this.#ended) return
    const { token, asks, persist, indexes, ...rest } = spec
    const paths = Object.values(indexes)
    const needs = paths.map((path) => path.replace(/\\.|\[\d+\]/g, (part) => (part[0] === '[' ? '[*]' : part))) // as projections name elements
    this.#id = this.#engine.start({ ...rest, indexes: paths, needs, restored: !!sink.kept }, sink)
  }

  #records(bytes, kept = false) {
    if (this.#kept && !kept) this.#kept.note(bytes)
    this.#client.records(bytes)
  }

  end() {
    this.#ended = true
    if (this.#id !== undefined) this.#engine.stop(this.#id)
    this.#kept?.close()
  }
}
