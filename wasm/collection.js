import { ADDED, DELETED, INTERRUPTED, KEPT, MODIFIED, SYNCED, decode } from './records.js'
import { Mirror, byKey, valuesOf } from './mirror.js'
import { Change, Changes } from './change.js'
import { retell } from './retell.js'
import { ListWatchError } from './error.js'

/** A collection that is followed; see ListWatch in index.d.ts. */
export class Collection {
  #mirror
  #subscribers = new Set() // each has the news that it was not told yet, and what tells it
  #due = false
  #snapshot
  #end // what ends it at the host
  #closed = false
  #settled
  #failure
  #last // the state in which it was stopped
  #unlisten
  #unconfirmed // the keys that a host which began anew has not told yet

  /** @param link returns a promise of what opens collections */
  constructor(spec, token, signal, link) {
    this.#mirror = new Mirror(Object.keys(spec.indexes))
    this.synced = new Promise((resolve, reject) => { this.#settled = { resolve, reject } })
    this.synced.catch(() => {}) // who does not wait for it is not told twice
    const abort = () => this.#fail(new ListWatchError('aborted', 'listwatch: aborted', { cause: signal.reason }))
    this.#unlisten = () => signal?.removeEventListener('abort', abort)
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    this.#open(link, spec, token)
  }

  async #open(link, spec, token) {
    try {
      const host = await link()
      if (this.#closed) return
      const end = host.open(spec, {
        records: (bytes) => this.#records(bytes), failed: (error) => this.#fail(error), lost: () => this.#lost(),
        state: () => this.#mirror.state, retell: () => retell(this.#mirror, this.#unconfirmed), token,
      })
      if (this.#closed) end()
      else this.#end = end
    } catch (error) {
      this.#fail(error)
    }
  }

  get size() { return this.#mirror.items.size }
  get state() { return this.#last ?? this.#mirror.state }
  get(key) { return this.#mirror.items.get(key)?.object }
  item(key) { return this.#mirror.items.get(key) }
  by(index, value) { return this.#mirror.by(index, value) }
  list() { return this.getSnapshot().list() }

  getSnapshot() {
    return this.#snapshot ??= new Snapshot(this.#mirror, this.state)
  }

  subscribe(callback) {
    const news = new Changes()
    return this.#add({ news, tell: () => callback(news.take()) })
  }

  #add(subscriber) {
    this.#subscribers.add(subscriber)
    return () => { this.#subscribers.delete(subscriber) }
  }

  close() {
    this.#stop(new ListWatchError('aborted', 'listwatch: the collection was closed'))
  }

  [Symbol.asyncIterator]() {
    const reader = { wake() {} }
    const changes = this.#changes(reader)
    for (const way of ['return', 'throw']) { // a generator's own would wait for what was asked before
      const leave = changes[way]
      changes[way] = (value) => {
        reader.left = true
        reader.wake()
        return leave.call(changes, value)
      }
    }
    return changes
  }

  async *#changes(reader) {
    const news = new Changes()
    for (const item of this.#mirror.items.values()) {
      news.add(new Change('added', item, undefined, { initial: true, stale: this.#mirror.isStale(item) }))
    }
    const unsubscribe = this.#add({ news, tell: () => reader.wake() })
    try {
      while (true) {
        for (let change; (change = news.shift());) yield change
        if (this.#failure) throw this.#failure
        if (this.#closed || reader.left) return
        await new Promise((resolve) => { reader.wake = resolve })
      }
    } finally {
      unsubscribe()
    }
  }

  #records(bytes) {
    if (this.#closed) return
    decode(bytes, (kind, fields) => {
      if (!this.#unconfirmed || this.#confirm(kind, fields)) this.#apply(kind, fields)
    })
    this.#snapshot = undefined
    if (this.#mirror.synced) this.#settled.resolve()
    if (this.#mirror.state.phase === 'stopped') this.#fail(this.#mirror.state.cause)
    this.#tellSoon()
  }

  #apply(kind, fields) {
    for (const change of this.#mirror.apply(kind, fields)) {
      for (const { news } of this.#subscribers) news.add(change)
    }
  }

  // The host is gone, and with it what it knew. The next one tells all there is; what it does not is gone, too.
  #lost() {
    this.#unconfirmed = new Set(this.#mirror.items.keys())
    this.#apply(INTERRUPTED, ['closed', 'listwatch: the shared worker is gone; another begins anew', '', '', '0', '1'])
    this.#snapshot = undefined
    this.#tellSoon()
  }

  // Returns whether a record is to be folded in. What the host has kept may be older than what is shown, or newer.
  #confirm(kind, [key, , , version]) {
    if (kind === ADDED || kind === MODIFIED || kind === KEPT) this.#unconfirmed.delete(key)
    if (kind === SYNCED) {
      for (const missing of this.#unconfirmed) this.#apply(DELETED, [missing, '', '1'])
      this.#unconfirmed = undefined
    }
    return kind !== KEPT || isNewer(version, (this.item(key) ?? this.state).resourceVersion)
  }

  // At most once per frame, and also where no frames are drawn.
  #tellSoon() {
    if (this.#due) return
    this.#due = true
    let frame
    const tell = () => {
      clearTimeout(timer)
      if (frame !== undefined) cancelAnimationFrame(frame)
      this.#due = false
      this.#tell()
    }
    const timer = setTimeout(tell, 16) // also for a page that is hidden before its next frame
    if (globalThis.document?.visibilityState === 'visible') frame = requestAnimationFrame(tell)
  }

  #tell() {
    for (const subscriber of [...this.#subscribers]) {
      if (!this.#subscribers.has(subscriber)) continue // another one has ended it
      try {
        subscriber.tell()
      } catch (error) {
        queueMicrotask(() => { throw error }) // one subscriber's mistake is not another's
      }
    }
  }

  #fail(error) {
    if (!this.#closed) this.#failure = error
    this.#stop(error)
  }

  #stop(error) {
    if (this.#closed) return
    this.#closed = true
    this.#last = Object.freeze({ ...this.#mirror.state, phase: 'stopped', stale: true, cause: this.#failure, retryAt: undefined })
    this.#unlisten()
    this.#end?.()
    this.#settled.reject(error)
    this.#snapshot = undefined
    this.#tellSoon()
  }
}

const isNewer = (a, b) => (a.length === b.length ? a > b : a.length > b.length) // as numbers

const NONE = Object.freeze([])

/** The collection as it is when this is made. */
class Snapshot {
  #items
  #by = new Map()
  #mirror
  #list

  constructor(mirror, state) {
    this.#items = new Map(mirror.items)
    this.#mirror = mirror
    this.state = state
    Object.freeze(this)
  }

  get size() { return this.#items.size }
  get(key) { return this.#items.get(key)?.object }
  item(key) { return this.#items.get(key) }

  list() {
    return this.#list ??= Object.freeze([...this.#items.values()].sort(byKey))
  }

  by(index, value) {
    const at = this.#mirror.indexOf(index)
    let found = this.#by.get(at)
    if (!found) {
      this.#by.set(at, found = new Map())
      for (const item of this.list()) {
        const value = valuesOf(item)[at], all = found.get(value)
        if (all) all.push(item)
        else if (value) found.set(value, [item])
      }
    }
    return found.get(value) ?? NONE
  }
}
