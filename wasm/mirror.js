// A mirror is a collection as the page has it: the fold of the records. Objects stay text until they are asked for.

import { ADDED, BOOKMARK, DELETED, HEARD, INTERRUPTED, KEPT, LIVE, MODIFIED, PAGE, RESET, STOPPED, SWITCHED, SYNCED } from './records.js'
import { Change } from './change.js'
import { ListWatchError } from './error.js'

/** Of an item, what each index finds it by. */
export let valuesOf
/** The fields of the record that makes the same item again. */
export let fieldsOf
/** Whether an item was kept from before. */
export let wasKept
let areSame

/** An object of a collection; see index.d.ts. Its text goes when it has been parsed. */
export class Item {
  #text
  #object
  #sum // of the text, for the program
  #values
  #kept

  static {
    valuesOf = (item) => item.#values
    fieldsOf = (item) => [item.key, '', item.uid, item.resourceVersion, item.#sum, ...item.#values, item.#text ?? JSON.stringify(item.#object)]
    wasKept = (item) => item.#kept
    areSame = (a, b) => a.uid === b.uid && a.resourceVersion === b.resourceVersion && a.#sum === b.#sum
  }

  constructor(kept, [key, , uid, resourceVersion, sum, ...values]) {
    this.key = key
    this.uid = uid
    this.resourceVersion = resourceVersion
    this.#kept = kept
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

export class Mirror {
  items = new Map()
  #now = { phase: 'loading', resourceVersion: '', lastEventAt: 0, stale: true }
  #state // a copy of it, once somebody asked
  #names // of the indexes
  #indexes // per index: value to the set of its items
  #synced = false
  #listing = false
  #remaining

  constructor(indexes = []) {
    this.#names = indexes
    this.#indexes = indexes.map(() => new Map())
  }

  /** Applies a record. Returns the changes that it made to an object: two if the object was recreated, none if it is known. */
  apply(kind, fields) {
    switch (kind) {
      case KEPT:
      case ADDED:
      case MODIFIED:
        return this.#put(kind, fields)
      case DELETED:
        return this.#delete(fields)
    }
    this.#moved(kind, fields)
    return []
  }

  #put(kind, fields) {
    const kept = kind === KEPT
    const item = new Item(kept, fields)
    const old = this.items.get(item.key)
    if (!kept) this.#heard(fields[1])
    if (old && areSame(old, item)) return [] // a host that began anew tells all
    if (old) this.#unindex(old)
    this.items.set(item.key, item)
    this.#indexes.forEach((index, i) => {
      const value = valuesOf(item)[i]
      if (value) index.get(value)?.add(item) ?? index.set(value, new Set([item]))
    })
    if (this.#listing && !kept) this.#progress()
    const flags = { initial: !this.#synced, stale: kept }
    if (old && (old.uid === item.uid || !old.uid || !item.uid)) return [new Change('modified', item, old, flags)]
    const added = new Change('added', item, undefined, flags)
    return old ? [new Change('deleted', old, old, { missed: true }), added] : [added]
  }

  #delete([key, version, missed]) {
    this.#heard(version)
    const old = this.items.get(key)
    if (!old) return []
    this.items.delete(key)
    this.#unindex(old)
    return [new Change('deleted', old, old, { missed: missed === '1' })]
  }

  #unindex(item) {
    this.#indexes.forEach((index, i) => {
      const value = valuesOf(item)[i], all = index.get(value)
      if (all?.delete(item) && !all.size) index.delete(value)
    })
  }

  #moved(kind, fields) {
    switch (kind) {
      case RESET:
        this.#listing = true
        this.#remaining = undefined
        return this.#set({ phase: 'listing', retryAt: undefined })
      case PAGE:
        this.#remaining = fields[0] === '0' && fields[1] ? undefined : Number(fields[0]) // there are more, but who knows how many
        return this.#progress()
      case SYNCED:
        this.#listing = false
        this.#synced = true
        if (fields[0]) this.#live(fields[0]) // else it is the state that was kept from before
        return this.#set({ progress: undefined })
      case LIVE:
        return this.#live(fields[0])
      case BOOKMARK:
        return this.#heard(fields[0])
      case HEARD:
        return this.#set({ lastEventAt: Number(fields[0]), resourceVersion: fields[1] })
      case INTERRUPTED:
      case STOPPED:
        return this.#broken(kind, fields)
    }
  }

  // A list that the server has just sent is as fresh as a watch from there, which may take long to answer. If that fails, the
  // state is interrupted.
  #live(version) {
    this.#heard(version)
    this.#set({ phase: 'live', stale: false, cause: undefined, retryAt: undefined })
  }

  #progress() {
    if (this.#synced) return
    this.#set({ progress: { received: this.items.size, remaining: this.#remaining } })
  }

  #broken(kind, [code, message, status, reason, delay, relist]) {
    const cause = new ListWatchError(code, message, { status: Number(status) || undefined, reason })
    if (code === 'turns') return this.#now.phase === 'interrupted' || this.#set({ cause }) // the watch goes on
    if (kind === STOPPED) return this.#set({ phase: 'stopped', stale: true, cause, retryAt: undefined })
    // A healthy watch that closed cleanly resumes soon. The state stays live, so that a page does not flicker. The shortest
    // backoff is 800 ms.
    if (code === 'closed' && delay < 800 && !relist) return
    this.#set({ phase: 'interrupted', stale: true, cause, retryAt: Date.now() + Number(delay) })
  }

  #heard(version) {
    this.#set(version ? { lastEventAt: Date.now(), resourceVersion: version } : { lastEventAt: Date.now() })
  }

  #set(change) {
    Object.assign(this.#now, change)
    this.#state = undefined
  }

  get state() {
    return this.#state ??= Object.freeze({ ...this.#now })
  }

  /** The items that an index has under a value, in the order of their keys. */
  by(name, value) {
    return [...(this.#indexes[this.indexOf(name)].get(value) ?? [])].sort(byKey)
  }

  /** Which of the indexes has this name. */
  indexOf(name) {
    const i = this.#names.indexOf(name)
    if (i < 0) throw new ListWatchError('invalid', `listwatch: there is no index ${name}: give it in options.indexes`)
    return i
  }

  get synced() {
    return this.#synced
  }

  /** Whether an item was kept from before, and nothing has confirmed it since. */
  isStale(item) {
    return wasKept(item) && !this.#synced
  }
}

export const byKey = (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
