// The host opens collections for its clients: those of its own page, or those of all tabs, which then share them.

import { ADDED, HEARD, INTERRUPTED, KEPT, LIVE, PAGE, RESET, SYNCED, decode, encode } from './records.js'
import { Mirror, fieldsOf } from './mirror.js'
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
    if (!spec.asks || typeof spec.persist === 'string') return this.#share(JSON.stringify(spec), spec, client)
    // Those who follow the same as different users must not see what the other sees. By their tokens they are told apart;
    // whoever has none just now shares with nobody.
    let end, ended = false
    Promise.resolve().then(() => client.token()).then((token) => JSON.stringify([spec, token]), () => Symbol('nobody')).then((name) => {
      if (!ended) end = this.#share(name, spec, client)
    })
    return () => {
      ended = true
      end?.()
    }
  }

  #share(name, spec, client) {
    let followed = this.#shared.get(name)
    if (!followed || followed.stopped) this.#shared.set(name, followed = new Followed(this.#engine, spec, true))
    followed.join(client)
    return () => {
      if (followed.leave(client)) return
      if (this.#shared.get(name) === followed) this.#shared.delete(name)
      followed.end()
    }
  }
}

const PATIENCE = 1000 // ms

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
    const paths = Object.values(indexes)
    const needs = paths.map((path) => path.replace(/\\.|\[\d+\]/g, (part) => (part[0] === '[' ? '[*]' : part))) // as projections name elements
    this.#id = this.#engine.start({ ...rest, indexes: paths, needs, restored: !!sink.kept }, sink)
  }

  // Any client may be asked: they follow the same as the same user. One that does not answer, as a tab that is frozen, is
  // asked last from then on.
  async #token() {
    const answers = []
    let failure
    for (const client of [...this.#clients]) {
      answers.push(Promise.resolve().then(() => client.token()))
      try {
        const token = await Promise.race([Promise.any(answers), new Promise((late) => setTimeout(late, PATIENCE))])
        if (token !== undefined) return token
        if (this.#clients.delete(client)) this.#clients.add(client)
      } catch ({ errors }) {
        failure = errors[0]
      }
    }
    if (failure) throw failure
    return answers.length ? Promise.any(answers) : ''
  }

  #records(bytes, kept = false) {
    if (this.#mirror) decode(bytes, (kind, fields) => this.#mirror.apply(kind, fields))
    if (this.#kept && !kept) this.#kept.note(bytes)
    this.#clients.forEach((client) => client.records(bytes))
  }

  /** Whether it will tell nothing any more. */
  get stopped() {
    return this.#mirror.state.phase === 'stopped'
  }

  join(client) {
    this.#clients.add(client)
    if (this.#mirror?.items.size || this.#mirror && this.#mirror.state.phase !== 'loading') this.#tell(client)
  }

  // Tells a client what happened before it came.
  #tell(client) {
    const { items, state, synced } = this.#mirror
    let batch = state.phase === 'loading' ? [] : [[RESET]]
    const send = () => {
      client.records(encode(batch))
      batch = []
    }
    for (const item of items.values()) {
      batch.push([this.#mirror.isStale(item) ? KEPT : ADDED, ...fieldsOf(item)])
      if (batch.length >= 50) send()
    }
    if (synced) batch.push([SYNCED, ''])
    if (state.progress) batch.push([PAGE, String(state.progress.remaining ?? 0), state.progress.remaining === undefined ? 'more' : ''])
    if (state.phase === 'live') batch.push([LIVE, ''])
    if (state.phase === 'interrupted') batch.push([INTERRUPTED, ...wordsOf(state)])
    batch.push([HEARD, String(state.lastEventAt), state.resourceVersion])
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

const wordsOf = ({ cause: { code, message, status, reason }, retryAt }) =>
  [code, message, String(status ?? ''), reason ?? '', String(Math.max(retryAt - Date.now(), 0)), '1']
