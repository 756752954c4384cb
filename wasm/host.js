// The host opens collections for its clients: those of its own page, or those of all tabs, which then share them.

import { ADDED, LIVE, RESET, SYNCED, decode, encode } from './records.js'
import { Mirror } from './mirror.js'
import { Kept } from './persist.js'

export class Host {
  #engine
  #shares
  #shared = new Map() // by what is followed

  /** @param shares whether clients that follow the same share one watch, and the state as text beside it */
  constructor(engine, shares) {
    this.#engine = engine
    this.#shares = shares
  }

  wake() {
    this.#engine.wake()
  }

  /**
   * Opens a collection for a client, which has `records(bytes)`, `failed(error)`, and `token()` if `spec.asks`; the bytes
   * must not be kept. Returns what ends it.
   */
  open(spec, client) {
    if (!this.#shares) {
      const followed = new Followed(this.#engine, spec, false)
      followed.join(client)
      return () => followed.end()
    }
    const name = JSON.stringify(spec)
    let followed = this.#shared.get(name)
    if (!followed) this.#shared.set(name, followed = new Followed(this.#engine, spec, true))
    followed.join(client)
    return () => {
      if (followed.leave(client) || this.#shared.get(name) !== followed) return
      this.#shared.delete(name)
      followed.end()
    }
  }
}

class Followed {
  #clients = new Set()
  #mirror
  #engine
  #id
  #kept
  #ended = false

  constructor(engine, spec, shares) {
    this.#engine = engine
    if (shares) this.#mirror = new Mirror(Object.keys(spec.indexes))
    this.#start(spec)
  }

  async #start(spec) {
    const sink = {
      records: (bytes) => this.#records(bytes),
      failed: (error) => this.#clients.forEach((client) => client.failed(error)),
      token: spec.token ? () => spec.token : spec.asks ? () => this.#token() : undefined,
    }
    if (spec.persist) {
      this.#kept = await Kept.open(spec)
      if (await this.#kept.load((bytes) => this.#records(bytes, true))) sink.kept = this.#kept.rows()
    }
    if (this.#ended) return
    const { token, asks, persist, indexes, ...rest } = spec
    this.#id = this.#engine.start({ ...rest, indexes: Object.values(indexes), restored: !!sink.kept }, sink)
  }

  // Any client may be asked: they follow the same as the same user.
  #token() {
    const [client] = this.#clients
    return client ? client.token() : ''
  }

  #records(bytes, kept = false) {
    if (this.#mirror) decode(bytes, (kind, fields) => this.#mirror.apply(kind, fields))
    if (this.#kept && !kept) this.#kept.note(bytes)
    this.#clients.forEach((client) => client.records(bytes))
  }

  join(client) {
    this.#clients.add(client)
    if (this.#mirror?.items.size || this.#mirror?.synced) this.#tell(client)
  }

  // Tells a client what happened before it came.
  #tell(client) {
    const { items, state, synced } = this.#mirror
    const { resourceVersion } = state
    client.records(encode([[RESET]]))
    let batch = []
    const send = () => {
      client.records(encode(batch))
      batch = []
    }
    for (const item of items.values()) {
      batch.push([ADDED, item.key, '', item.uid, item.resourceVersion, item.sum, item.text, ...item.values])
      if (batch.length === 50) send()
    }
    if (synced) batch.push([SYNCED, resourceVersion])
    if (state.phase === 'live') batch.push([LIVE, resourceVersion])
    send()
  }

  /** Returns whether others are left. */
  leave(client) {
    this.#clients.delete(client)
    return this.#clients.size > 0
  }

  end() {
    this.#ended = true
    if (this.#id !== undefined) this.#engine.stop(this.#id)
    this.#kept?.close()
  }
}
