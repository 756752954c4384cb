/** @import { ErrorCode, State } from './types.js' */

import { ADDED, BOOKMARK, DELETED, ACTIVITY, INTERRUPTED, SAVED, LIVE, MODIFIED, PAGE, RESET, STOPPED, SYNCED, UNSAVED } from './records.js'
import { Change } from './change.js'
import { Groups } from './groups.js'
import { ListWatchError } from './error.js'

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
  #sum // the checksum of the JSON, for the WASM module
  #values
  #saved

  static {
    valuesOf = (item) => item.#values
    fieldsOf = (item) => [item.key, '', item.uid, item.resourceVersion, item.#sum, ...item.#values, item.#text ?? JSON.stringify(item.#object)]
    wasSaved = (item) => item.#saved
    areSame = (a, b) => a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.#sum === b.#sum
  }

  /** @param {boolean} saved @param {string[]} fields */
  constructor(saved, [key, , uid, resourceVersion, sum, ...values]) {
    this.key = key
    this.uid = uid
    this.resourceVersion = resourceVersion
    this.#saved = saved
    this.#sum = sum
    this.#text = values.pop()
    this.#values = values
  }

  get namespace() {
    return this.key.slice(0, Math.max(this.key.indexOf('/'), 0))
  }

  get name() {
    return this.key.slice(this.key.indexOf('/') + 1)
  }

  get object() {
    if (this.#text !== undefined) {
      this.#object = JSON.parse(this.#text)
      this.#text = undefined
    }
    return this.#object
  }
}

/** @type {readonly Item[]} */
const NONE = Object.freeze([])

/** Applies the records of a collection in order, and holds its current objects and state. */
export class Mirror {
  /** @type {Map<string, Item>} by key */
  items = new Map()
  /** Whether the first list is complete. */
  synced = false
  /** @type {State} */
  #now = { phase: 'loading', resourceVersion: '', lastEventAt: 0, synced: false, stale: true }
  /** @type {State | undefined} an immutable copy of #now, made on demand */
  #state
  #names
  #all = new Groups(this.items, () => 'all')
  #listing = false
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
    const changes = known?.uid && item.uid && known.uid !== item.uid ? [this.#remove(known, true)] : []
    const old = this.items.get(item.key)
    this.items.set(item.key, item)
    this.#regroup(old, item)
    if (this.#listing && !saved) this.#progress()
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
        this.#listing = true
        this.#remaining = undefined
        return this.#set({ phase: 'listing', retryAt: undefined })
      case PAGE:
        // The server may have more pages without reporting the number of objects on them.
        this.#remaining = fields[0] === '0' && fields[1] ? undefined : Number(fields[0])
        return this.#progress()
      case SYNCED:
        this.#listing = false
        this.synced = true
        if (fields[0]) this.#setLive(fields[0]) // empty if the list came from IndexedDB or from another page
        return this.#set({ progress: undefined, synced: true })
      case LIVE:
        return this.#setLive(fields[0])
      case BOOKMARK:
        return this.#touch(fields[0])
      case ACTIVITY:
        return this.#set({ lastEventAt: Number(fields[0]), resourceVersion: fields[1] })
      case UNSAVED:
        return this.#set({ persistError: fields[0] ? new ListWatchError('storage', fields[0]) : undefined })
      case INTERRUPTED:
      case STOPPED:
        return this.#setInterrupted(kind, fields)
    }
  }

  // A collection is live as soon as its list is complete. It does not wait for the response to the watch, which may take
  // long. If the watch fails, the collection becomes interrupted.
  /** @param {string} version */
  #setLive(version) {
    this.#touch(version)
    this.#set({ phase: 'live', stale: false, cause: undefined, retryAt: undefined })
  }

  #progress() {
    if (this.synced) return
    this.#set({ progress: { received: this.items.size, remaining: this.#remaining } })
  }

  /** @param {number} kind @param {string[]} fields */
  #setInterrupted(kind, [code, message, status, reason, delay, relist]) {
    const cause = new ListWatchError(/** @type {ErrorCode} */ (code), message, { status: Number(status) || undefined, reason })
    if (code === 'turns') return this.#now.phase === 'interrupted' || this.#set({ cause }) // the watch continues
    if (kind === STOPPED) return this.#set({ phase: 'stopped', stale: true, cause, retryAt: undefined })
    // The shortest backoff is 800 ms. A shorter delay means that a healthy watch was closed cleanly and resumes soon.
    // The state stays live, so that the page does not flicker.
    if (code === 'closed' && Number(delay) < 800 && !relist) return
    this.#set({ phase: 'interrupted', stale: true, cause, retryAt: Date.now() + Number(delay) })
  }

  /** @param {string} version the new resourceVersion, or "" if it is unknown */
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

  /** Reports whether the item was loaded from IndexedDB and the server has not confirmed it. @param {Item} item */
  isStale(item) {
    return wasSaved(item) && !this.synced
  }
}
