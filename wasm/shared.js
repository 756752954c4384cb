// The host of all tabs of an origin, which share what they follow. It holds no objects: who comes late is told by another tab.

import { Followed, Host } from './host.js'

export class SharedHost extends Host {
  #groups = new Map() // by what is followed

  /**
   * As Host's. A client has `retell()`, too, which returns a promise of records that tell what it has been told, as bytes.
   */
  open(spec, client) {
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
    let group = this.#groups.get(name), ended = false
    const begin = () => this.#groups.set(name, group = new Group(this.engine, spec, client))
    if (!group) begin()
    else group.join(client).then((joined) => joined || ended || begin())
    return () => {
      ended = true
      if (group.leave(client)) return
      if (this.#groups.get(name) === group) this.#groups.delete(name)
      group.end()
    }
  }
}

const PATIENCE = 1000 // ms

// A group is one client of its collection, and all of its clients.
class Group {
  #clients = new Map() // each with what is held back for it, if it waits to be told what happened before
  #followed

  constructor(engine, spec, client) {
    this.#clients.set(client)
    this.#followed = new Followed(engine, spec, this)
  }

  records(bytes) {
    this.#clients.forEach((held, client) => held ? held.push(bytes.slice()) : client.records(bytes))
  }

  failed(error) {
    this.#clients.forEach((_, client) => client.failed(error))
  }

  // Any client may be asked: they follow the same as the same user. One that does not answer, as a tab that is frozen, is
  // asked last from then on.
  async token() {
    const answers = []
    let failure
    for (const client of [...this.#clients.keys()]) {
      answers.push(Promise.resolve().then(() => client.token()))
      try {
        const token = await Promise.race([Promise.any(answers), new Promise((late) => setTimeout(late, PATIENCE))])
        if (token !== undefined) return token
        const held = this.#clients.get(client)
        if (this.#clients.delete(client)) this.#clients.set(client, held)
      } catch ({ errors }) {
        failure = errors[0]
      }
    }
    if (failure) throw failure
    return answers.length ? Promise.any(answers) : ''
  }

  /**
   * Lets another client follow, too. What happened before it is told by one that saw it. Returns whether that succeeded: who
   * is frozen tells nothing.
   */
  async join(client) {
    const others = [...this.#clients].filter(([, held]) => !held)
    this.#clients.set(client, [])
    for (const [other] of others) {
      const held = [] // what comes while the other one tells
      this.#clients.set(client, held)
      let told
      try {
        told = await other.retell() // which is asked now, between what it is told and what is held back
      } catch {}
      if (!this.#clients.has(client)) return true // it has left
      if (!told) continue
      for (const bytes of [...told, ...held]) client.records(bytes)
      this.#clients.set(client)
      return true
    }
    this.#clients.delete(client)
    return false
  }

  /** Returns whether others are left. */
  leave(client) {
    this.#clients.delete(client)
    return this.#clients.size > 0
  }

  end() {
    this.#followed.end()
  }
}
