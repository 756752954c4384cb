// The host of all tabs of an origin. Tabs that follow the same collection as the same user share one watch.

/** @import { Engine } from './engine.js' */
/** @import { Client } from './host.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'
import { CollectionWatch, Host } from './host.js'
import { crashed, messageOf } from './messages.js'

/** @typedef {Client & { replay: () => Promise<Uint8Array[]> }} Member a client that can send its records to another client */

/** The host of a SharedWorker. It does not keep objects: a tab replays the collection to a tab that opens it later. */
export class SharedHost extends Host {
  /** @type {Map<string | symbol, Group>} by the collection and its user */
  #groups = new Map()

  /**
   * Opens a collection and returns a function that closes it.
   * @override
   * @param {Spec} spec
   * @param {Member} client
   */
  open(spec, client) {
    /** @type {Membership} */
    const membership = { left: false }
    const enter = (/** @type {string | symbol} */ name) => this.#addClient(name, spec, client, membership)
    // Without a token function, the spec identifies the user: it contains the token and the headers. A string in `persist`
    // names the user, too. Otherwise the token itself must be part of the group's name.
    if (!spec.asks || typeof spec.persist === 'string') enter(JSON.stringify(spec))
    else nameOf(spec, client).then(enter).catch((error) => client.failed(crashed('the collection could not be opened', error)))
    return () => {
      membership.left = true
      membership.group?.leave(client)
    }
  }

  /** @param {string | symbol} name @param {Spec} spec @param {Member} client @param {Membership} membership */
  #addClient(name, spec, client, membership) {
    if (membership.left) return
    const group = this.#groups.get(name)
    if (!group) {
      const founded = membership.group = new Group(this.engine, spec, client, () => this.#deleteGroup(name, founded))
      this.#groups.set(name, founded)
      return
    }
    membership.group = group
    group.join(client).then((settled) => {
      if (settled) return
      // No member answers. The first client that detects this starts a new group, and the others join it.
      this.#deleteGroup(name, group)
      this.#addClient(name, spec, client, membership)
    }).catch((error) => {
      group.leave(client)
      client.failed(crashed('the collection could not be joined', error))
    })
  }

  /** @param {string | symbol} name @param {Group} group */
  #deleteGroup(name, group) {
    if (this.#groups.get(name) === group) this.#groups.delete(name)
  }
}

/** @typedef {{ left: boolean, group?: Group }} Membership a client's membership in a group */

/**
 * Returns the name of a client's group. It contains the token, because clients with different tokens may be different
 * users and must not share objects. A client whose token function fails gets a unique name.
 * @param {Spec} spec
 * @param {Member} client
 */
async function nameOf(spec, client) {
  try {
    return JSON.stringify([spec, await client.token?.()])
  } catch (error) {
    return Symbol(messageOf(error)) // the WASM module asks for the token again and reports the failure
  }
}

/** The longest wait for a token or a part of a replay, in ms, because a tab that the browser has frozen does not answer. */
export const TIMEOUT = 1000

/**
 * A group is one watch and the clients that share it.
 *
 * Invariants:
 * - A client is in `#members` or in `#joining`, or it has left. A member has received all records of the watch.
 * - The watch runs from the constructor until `#end`. The group ends when its last client has left, or when the watch
 *   fails.
 * - `#end` runs once and removes the group from the host, so that no client joins an ended group.
 * - `#members` begins with the clients that answered most recently. A client that did not answer in time moves to the
 *   end.
 */
class Group {
  /** @type {Member[]} */
  #members
  /** @type {Map<Member, Uint8Array[]>} the clients that wait for a replay, with the records that arrived in the meantime */
  #joining = new Map()
  /** @type {CollectionWatch | undefined} */
  #watch
  #ended = false
  #onEnd

  /**
   * @param {Engine} engine
   * @param {Spec} spec
   * @param {Member} client
   * @param {() => void} onEnd removes the group from the host
   */
  constructor(engine, spec, client, onEnd) {
    this.#members = [client]
    this.#onEnd = onEnd
    this.#watch = new CollectionWatch(engine, spec, this)
  }

  /** @param {Uint8Array} bytes */
  records(bytes) {
    for (const buffered of this.#joining.values()) buffered.push(bytes.slice()) // `bytes` is valid only during the call
    for (const client of [...this.#members]) client.records(bytes)
  }

  /** @param {ListWatchError} error */
  failed(error) {
    const clients = this.#clients()
    this.#end()
    for (const client of clients) client.failed(error)
  }

  #clients() { return [...this.#members, ...this.#joining.keys()] }

  /**
   * Returns a token from one of the clients, which all belong to one user. If a client does not answer in time, the
   * next client is asked, too. If no client answers in time, the first late answer counts, because the watch needs a
   * token.
   * @returns {Promise<string>}
   */
  async token() {
    /** @type {Promise<string>[]} */
    const answers = []
    let failure
    for (const client of this.#clients()) {
      answers.push(Promise.resolve().then(() => client.token?.() ?? ''))
      const timeout = new Promise((/** @type {(nothing: undefined) => void} */ resolve) => { setTimeout(resolve, TIMEOUT) })
      try {
        const token = await Promise.race([Promise.any(answers), timeout])
        if (token !== undefined) return token
        this.#moveToEnd(client)
      } catch (error) {
        failure = /** @type {AggregateError} */ (error).errors[0]
      }
    }
    if (failure) throw failure
    return answers.length ? Promise.any(answers).catch((/** @type {AggregateError} */ { errors }) => { throw errors[0] }) : ''
  }

  /** @param {Member} client */
  #moveToEnd(client) {
    if (this.#remove(client)) this.#members.push(client)
  }

  /**
   * Adds a client to the members after another member has replayed the collection to it. Returns false if no member
   * answers.
   * @param {Member} client
   */
  async join(client) {
    const asked = new Set()
    for (let member; (member = this.#members.find((each) => !asked.has(each))); asked.add(member)) {
      /** @type {Uint8Array[]} */
      const buffered = []
      this.#joining.set(client, buffered)
      const replayed = await replayOf(member)
      if (!this.#joining.has(client)) return true // the client has left, or the watch has failed
      if (!replayed) {
        this.#moveToEnd(member)
        continue
      }
      for (const bytes of [...replayed, ...buffered]) client.records(bytes)
      this.#joining.delete(client)
      this.#members.unshift(client)
      return true
    }
    this.leave(client)
    return false
  }

  /** @param {Member} client */
  #remove(client) {
    const at = this.#members.indexOf(client)
    if (at >= 0) this.#members.splice(at, 1)
    return at >= 0
  }

  /** @param {Member} client */
  leave(client) {
    this.#joining.delete(client)
    this.#remove(client)
    if (!this.#members.length && !this.#joining.size) this.#end()
  }

  #end() {
    if (this.#ended) return
    this.#ended = true
    this.#members = []
    this.#joining.clear()
    this.#onEnd()
    this.#watch?.end()
  }
}

/**
 * Returns the records of a member, or undefined if its tab is frozen or has closed the collection. The caller then asks
 * another member.
 * @param {Member} member
 */
async function replayOf(member) {
  try {
    return await member.replay()
  } catch (error) {
    if (error instanceof ListWatchError && (error.code === 'silent' || error.code === 'closed')) return
    throw error
  }
}
