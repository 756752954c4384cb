import { decode } from './records.js'
import { Mirror, byKey } from './mirror.js'
import { Change, Changes } from './change.js'
import { ListWatchError } from './error.js'

/** A collection that is followed; see ListWatch in index.d.ts. */
export class Collection {
  #mirror
  #subscribers = new Set()
  #news = new Changes() // since the subscribers were last told
  #due = false
  #snapshot
  #end // what ends it at the host
  #closed = false
  #settled
  #failure
  #unlisten

  /** @param link returns a promise of what opens collections */
  constructor(spec, token, signal, link) {
    this.#mirror = new Mirror(Object.keys(spec.indexes))
    this.synced = new Promise((resolve, reject) => { this.#settled = { resolve, reject } })
    this.synced.catch(() => {}) // who does not wait for it is not told twice
    const client = { records: (bytes) => this.#records(bytes), failed: (error) => this.#fail(error), token }
    link().then((host) => {
      if (!this.#closed) this.#end = host.open(spec, client)
    }).catch((error) => this.#fail(error))
    const abort = () => this.#fail(new ListWatchError('aborted', 'listwatch: aborted', { cause: signal.reason }))
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
    this.#unlisten = () => signal?.removeEventListener('abort', abort)
  }

  get size() { return this.#mirror.items.size }
  get state() { return this.#closed ? this.#stopped() : this.#mirror.state }
  get(key) { return this.#mirror.items.get(key)?.object }
  item(key) { return this.#mirror.items.get(key) }
  by(index, value) { return this.#mirror.by(index, value) }
  list() { return this.getSnapshot().list() }

  getSnapshot() {
    return this.#snapshot ??= new Snapshot(this.#mirror, this.state)
  }

  subscribe(callback) {
    const subscriber = { callback }
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  close() {
    this.#stop(new ListWatchError('aborted', 'listwatch: the collection was closed'))
  }

  async *[Symbol.asyncIterator]() {
    const pending = new Changes()
    for (const item of this.#mirror.items.values()) pending.add(new Change('added', item, undefined, { initial: true, stale: this.state.stale }))
    let wake
    const unsubscribe = this.subscribe((changes) => {
      for (const change of changes) pending.add(change)
      wake?.()
    })
    try {
      while (true) {
        for (const change of pending.take()) yield change
        if (pending.size) continue
        if (this.#closed && !this.#failure) return
        if (this.#failure) throw this.#failure
        await new Promise((resolve) => { wake = resolve })
      }
    } finally {
      unsubscribe()
    }
  }

  #records(bytes) {
    if (this.#closed) return
    decode(bytes, (kind, fields) => {
      const change = this.#mirror.apply(kind, fields)
      if (change) this.#news.add(change)
    })
    this.#snapshot = undefined
    if (this.#mirror.synced) this.#settled.resolve()
    if (this.#mirror.state.phase === 'stopped') this.#fail(this.#mirror.state.cause)
    this.#tellSoon()
  }

  // At most once per frame, and also where no frames are drawn.
  #tellSoon() {
    if (this.#due) return
    this.#due = true
    const tell = () => {
      if (!this.#due) return
      this.#due = false
      this.#tell()
    }
    if (globalThis.document?.visibilityState === 'visible') requestAnimationFrame(tell)
    setTimeout(tell, 16) // also for a page that is hidden before its next frame
  }

  #tell() {
    const changes = this.#news.take()
    for (const { callback } of [...this.#subscribers]) {
      try {
        callback(changes)
      } catch (error) {
        reportError(error) // one subscriber's mistake is not another's
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
    this.#unlisten()
    this.#end?.()
    this.#settled.reject(error)
    this.#snapshot = undefined
    this.#tellSoon()
  }

  #stopped() {
    return Object.freeze({ ...this.#mirror.state, phase: 'stopped', stale: true, cause: this.#failure, retryAt: undefined })
  }
}

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
        if (!item.values[at]) continue
        const all = found.get(item.values[at])
        if (all) all.push(item)
        else found.set(item.values[at], [item])
      }
    }
    return found.get(value) ?? []
  }
}
