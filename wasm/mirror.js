/** @import { ErrorCode, Phase, State } from './types.js' */

import { ADDED, BOOKMARK, DELETED, ACTIVITY, INTERRUPTED, SAVED, LIVE, MODIFIED, PAGE, RESET, STOPPED, SYNCED, UNSAVED } from './records.js'
import { Change } from './change.js'
import { Groups, NONE } from './groups.js'
import { ListWatchError } from './error.js'

// Items are handed to users, so their internal members are private. Item sets these functions, which give this package
// access.

/** Returns the item's value for each index. @type {(item: Item) => string[]} */
export let valuesOf
/** Returns the fields of a record that recreates the item. @type {(item: Item) => string[]} */
export let fieldsOf
/** Reports whether the item was loaded from IndexedDB. @type {(item: Item) => boolean} */
let wasSaved
/** Reports whether two items are the same version of one object. @type {(a: Item, b: Item) => boolean} */
let areSame

/** An object of a collection. See Item in index.d.ts. */
export class Item {
  /** @type {string | undefined} the JSON; undefined once it is parsed */
  #text
  /** @type {any} */
  #object
  #sum // the checksum of the JSON, by which the WASM module recognizes a saved object that has not changed
  #values // the value for each index
  #saved // whether the item was loaded from IndexedDB

  static {
    valuesOf = (item) => item.#values
    fieldsOf = (item) => [item.key, '', item.uid, item.resourceVersion, item.#sum, ...item.#values, item.#text ?? JSON.stringify(item.#object)]
    wasSaved = (item) => item.#saved
    areSame = (a, b) => a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.#sum === b.#sum
  }

  /** @param {boolean} saved @param {string[]} fields the fields of an ADDED record; see records.js */
  constructor(saved, [key, , uid, resourceVersion, sum, ...values]) {
    this.key = key
    this.uid = uid
    this.resourceVersion = resourceVersion
    this.#saved = saved
    this.#sum = sum
    this.#text = values.pop()
    this.#values = values
  }

  get namespace() { return this.key.slice(0, Math.max(this.key.indexOf('/'), 0)) } // "" for a key without a namespace
  get name() { return this.key.slice(this.key.indexOf('/') + 1) }

  get object() {
    if (this.#text !== undefined) {
      this.#object = JSON.parse(this.#text)
      this.#text = undefined
    }
    return this.#object
  }
}

// The time in ms in which a cleanly closed watch must resume. Until then, the phase stays live, so that a page does not
// flicker. Watches that take turns (see slots.js) have more time, because the next watch may have to wait for others.
const RESUME_TIMEOUT = 5000, TURN_TIMEOUT = 30_000

/** Applies the records of a collection in order, and holds its current objects and state. */
export class Mirror {
  /** @type {Map<string, Item>} by key */
  items = new Map()
  /** Whether the first list is complete. */
  synced = false
  /** @type {State} the current state, which changes in place */
  #now = { phase: 'waiting', since: Date.now(), resourceVersion: '', lastEventAt: 0, synced: false }
  /** @type {State | undefined} an immutable copy of #now, made on demand */
  #state
  #names // of the indexes
  #all = new Groups(this.items, () => 'all') // a single group, because Groups keeps its members sorted
  /** Whether a list is in progress. */
  listing = false
  /**
   * The interruption of a cleanly closed watch that must resume within `timeout` ms. The phase is still live.
   * @type {{ cause: ListWatchError, timeout: number } | undefined}
   */
  resuming
  /** @type {number | undefined} the number of objects on the remaining pages, if the server reports it */
  #remaining

  /** @param {string[]} [indexes] the names of the indexes */
  constructor(indexes = []) {
    this.#names = indexes
    /** The items of each index, grouped by value. */
    this.indexes = indexes.map((_, i) => new Groups(this.items, (item) => valuesOf(item)[i]))
  }

  /**
   * Applies a record and returns the resulting changes: two for a recreated object, otherwise at most one.
   * @param {number} kind
   * @param {string[]} fields
   */
  apply(kind, fields) {
    switch (kind) {
      case SAVED:
      case ADDED:
      case MODIFIED:
        return this.#put(kind, fields)
      case DELETED: {
        this.#touch(fields[1])
        const old = this.items.get(fields[0])
        return old ? [this.#remove(old, fields[2] === '1')] : []
      }
    }
    this.#applyState(kind, fields)
    return []
  }

  /** @param {number} kind @param {string[]} fields */
  #put(kind, fields) {
    const saved = kind === SAVED
    const item = new Item(saved, fields)
    const known = this.items.get(item.key)
    if (!saved) this.#touch(fields[1])
    if (known && areSame(known, item)) return [] // a new worker sends all objects again
    // An object with another UID was recreated, and its deletion was missed.
    const changes = known?.uid && item.uid && known.uid !== item.uid ? [this.#remove(known, true)] : []
    const old = this.items.get(item.key)
    this.items.set(item.key, item)
    this.#regroup(old, item)
    if (this.listing && !saved) this.#progress()
    changes.push(new Change(old ? 'modified' : 'added', item, old, { initial: !this.synced, stale: saved }))
    return changes
  }

  /** @param {Item} item @param {boolean} finalStateUnknown */
  #remove(item, finalStateUnknown) {
    this.items.delete(item.key)
    this.#regroup(item, undefined)
    return new Change('deleted', item, item, { finalStateUnknown })
  }

  /** @param {Item | undefined} old @param {Item | undefined} item */
  #regroup(old, item) {
    this.#all.replace(old, item)
    for (const index of this.indexes) index.replace(old, item)
  }

  /** @param {number} kind @param {string[]} fields */
  #applyState(kind, fields) {
    switch (kind) {
      case RESET:
        this.listing = true
        this.#remaining = undefined
        // Only the first list has its own phase. During a relist, the objects are stale.
        return this.#setPhase(this.#complete ? 'stale' : 'listing', { retryAt: undefined })
      case PAGE:
        // The server may have more pages without reporting the number of objects on them.
        this.#remaining = fields[0] === '0' && fields[1] ? undefined : Number(fields[0])
        return this.#progress()
      case SYNCED:
        this.listing = false
        this.synced = true
        this.#set({ progress: undefined, synced: true })
        // The resourceVersion is empty if the objects came from IndexedDB or from another page. Otherwise the phase does
        // not change: the list is current, but only a watch shows that it stays current.
        return fields[0] ? this.#touch(fields[0]) : this.#setPhase('stale')
      case LIVE:
        this.#touch(fields[0])
        this.resuming = undefined
        return this.#setPhase('live', { cause: undefined, retryAt: undefined })
      case BOOKMARK:
        return this.#touch(fields[0])
      case ACTIVITY:
        return this.#setActivity(fields)
      case UNSAVED:
        return this.#set({ persistError: fields[0] ? new ListWatchError('storage', fields[0]) : undefined })
      case INTERRUPTED:
      case STOPPED:
        return this.#setInterrupted(kind, fields)
    }
  }

  /** Reports whether a list is complete, or saved objects were loaded. */
  get #complete() { return this.synced || this.#now.resourceVersion !== '' }

  /** The phase without a watch. @type {Phase} */
  get #disconnected() { return this.#complete ? 'stale' : 'waiting' }

  /** Applies the activity before this mirror was created. Only a replay contains `since`. @param {string[]} fields */
  #setActivity([at, resourceVersion, since]) {
    this.#set({ lastEventAt: Number(at), resourceVersion })
    if (this.#now.phase === 'waiting') this.#setPhase(this.#disconnected)
    if (since) this.#set({ since: Number(since) })
  }

  #progress() {
    if (this.synced) return
    this.#set({ progress: { received: this.items.size, remaining: this.#remaining } })
  }

  /** @param {number} kind @param {string[]} fields */
  #setInterrupted(kind, [code, message, status, reason, delay, relist]) {
    const cause = new ListWatchError(/** @type {ErrorCode} */ (code), message, { status: Number(status) || undefined, reason })
    if (code === 'turns') return this.#setTurns(cause)
    this.resuming = undefined
    if (kind === STOPPED) return this.#setPhase('stopped', { cause, retryAt: undefined })
    // The shortest backoff is 800 ms (lw/policy.go). A shorter delay means that a healthy watch was closed cleanly and resumes soon.
    if (code === 'closed' && Number(delay) < 800 && !relist && this.#now.phase === 'live') {
      const timeout = this.#now.cause?.code === 'turns' ? TURN_TIMEOUT : RESUME_TIMEOUT
      this.resuming = { cause, timeout }
      return
    }
    this.#setPhase(this.#disconnected, { cause, retryAt: delay ? Date.now() + Number(delay) : undefined })
  }

  /**
   * Begins again without a watch. The cause is a crash, or undefined after retry(), so that an application does not show the
   * old error during the new attempt.
   * @param {ListWatchError} [cause]
   */
  restart(cause) {
    this.resuming = undefined
    this.#setPhase(this.#disconnected, { cause, retryAt: undefined })
  }

  /** Records that the watch waits for its turn. It does not hide the cause of an interruption. @param {ListWatchError} cause */
  #setTurns(cause) {
    if (this.resuming) this.resuming = { ...this.resuming, timeout: TURN_TIMEOUT }
    if (!this.#now.cause) this.#set({ cause })
  }

  /** Ends the phase live. The collection calls it if a cleanly closed watch has not resumed in time. */
  expire() {
    if (!this.resuming) return
    this.#setPhase('stale', { cause: this.resuming.cause }) // replaces the cause "turns", which does not explain a broken connection
    this.resuming = undefined
  }

  /** Sets the phase and other members of the state. @param {Phase} phase @param {Partial<State>} [change] */
  #setPhase(phase, change) {
    this.#set({ ...change, phase, since: phase === this.#now.phase ? this.#now.since : Date.now() })
  }

  /** Records that the server has sent data. @param {string} version the new resourceVersion, or "" if it is unknown */
  #touch(version) {
    this.#set(version ? { lastEventAt: Date.now(), resourceVersion: version } : { lastEventAt: Date.now() })
  }

  /** @param {Partial<State>} change */
  #set(change) {
    Object.assign(this.#now, change)
    this.#state = undefined
  }

  get state() {
    return this.#state ??= Object.freeze({ ...this.#now })
  }

  /** Returns all items, sorted by key. The array is immutable. */
  list() {
    return this.#all.get().get('all') ?? NONE
  }

  /** Returns the position of the index with this name. @param {string} name */
  indexOf(name) {
    const i = this.#names.indexOf(name)
    if (i < 0) throw new ListWatchError('invalid', `listwatch: there is no index "${name}"; add it to the option indexes`)
    return i
  }

  /** Reports whether the item was loaded from IndexedDB and the server has not confirmed it yet. @param {Item} item */
  isStale(item) {
    return wasSaved(item) && !this.synced
  }
}
