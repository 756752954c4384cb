// A mirror is a collection as the page has it: the fold of the records. Objects stay text until they are asked for.

import { ADDED, BOOKMARK, DELETED, INTERRUPTED, KEPT, LIVE, MODIFIED, PAGE, RESET, STOPPED, SWITCHED, SYNCED } from './records.js'
import { Change } from './change.js'
import { ListWatchError } from './error.js'

/** An object of a collection; see index.d.ts. Its text goes when it has been parsed. */
export class Item {
  #text
  #object

  constructor(key, uid, resourceVersion, sum, text, values) {
    this.key = key
    this.uid = uid
    this.resourceVersion = resourceVersion
    this.sum = sum // of the text, for the program
    this.values = values // what each index finds it by
    this.#text = text
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

  get text() {
    return this.#text ?? JSON.stringify(this.#object)
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

  /** Folds a record in; returns the change that it made to an object, if any. */
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
  }

  #put(kind, [key, version, uid, objectVersion, sum, text, ...values]) {
    const item = new Item(key, uid, objectVersion, sum, text, values)
    const old = this.items.get(key)
    if (old) this.#unindex(old)
    this.items.set(key, item)
    this.#indexes.forEach((index, i) => {
      const value = values[i]
      if (value) index.get(value)?.add(item) ?? index.set(value, new Set([item]))
    })
    if (kind === KEPT) return new Change('added', item, undefined, { initial: true, stale: true })
    this.#heard(version)
    if (this.#listing) this.#progress()
    return new Change(old ? 'modified' : 'added', item, old, { initial: !this.#synced })
  }

  #delete([key, version, missed]) {
    this.#heard(version)
    const old = this.items.get(key)
    if (!old) return
    this.items.delete(key)
    this.#unindex(old)
    return new Change('deleted', old, old, { missed: missed === '1' })
  }

  #unindex(item) {
    this.#indexes.forEach((index, i) => {
      const all = index.get(item.values[i])
      if (all?.delete(item) && !all.size) index.delete(item.values[i])
    })
  }

  #moved(kind, fields) {
    switch (kind) {
      case RESET:
        this.#listing = true
        this.#remaining = undefined
        return this.#set({ phase: 'listing' })
      case PAGE:
        this.#remaining = Number(fields[0])
        return this.#progress()
      case SYNCED:
        this.#listing = false
        this.#synced = true
        this.#heard(fields[0])
        return this.#set({ progress: undefined })
      case LIVE:
        this.#heard(fields[0])
        return this.#set({ phase: 'live', stale: false, cause: undefined, retryAt: undefined })
      case BOOKMARK:
        return this.#heard(fields[0])
      case INTERRUPTED:
      case STOPPED:
        return this.#broken(kind, fields)
    }
  }

  #progress() {
    if (this.#synced) return
    this.#set({ progress: { received: this.items.size, remaining: this.#remaining } })
  }

  #broken(kind, [code, message, status, reason, delay, relist]) {
    const cause = new ListWatchError(code, message, { status: Number(status) || undefined, reason })
    if (kind === STOPPED) return this.#set({ phase: 'stopped', stale: true, cause, retryAt: undefined })
    // A watch that ended in good order goes on at once: whoever looks shall not see it flicker.
    if (code === 'closed' && delay === '0' && !relist) return
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
}

export const byKey = (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
