/** @import { Change as PublicChange, ListWatch, ListWatchOptions, State } from './types.js' */
/** @import { Link } from './connect.js' */
/** @import { Client } from './host.js' */
/** @import { Spec } from './spec.js' */

import { ADDED, DELETED, SAVED, MODIFIED, SYNCED, UNSAVED, WARNING, decode } from './records.js'
import { Mirror } from './mirror.js'
import { Change, Changes } from './change.js'
import { Snapshot } from './snapshot.js'
import { replay } from './replay.js'
import { callSafely, report } from './report.js'
import { ListWatchError } from './error.js'

const MAX_RESTARTS = 3 // the limit of automatic restarts within a minute, so that a fault that persists does not load the server

/** @typedef {{ queue: Changes, notify: () => void }} Subscriber its undelivered changes, and a function that delivers them */

/**
 * A collection that mirrors the server's objects. See ListWatch in index.d.ts.
 * @implements {ListWatch<any>}
 */
export class Collection {
  #mirror
  /** @type {Set<Subscriber>} */
  #subscribers = new Set()
  #immediate = false // whether subscribers are notified at once; testing.js sets it, so that tests need not wait for a frame
  #due = false // whether a timer or an animation frame will call #notify
  /** @type {Snapshot | undefined} */
  #snapshot
  /** @type {Link | undefined} */
  #link
  /** @type {(() => void) | undefined} closes the collection in the host */
  #end
  #begin
  #trace
  /** @type {number[]} the times of the automatic restarts within the last minute */
  #restarts = []
  /** @type {Promise<void> | undefined} */
  #synced
  #settle = () => {} // resolves or rejects #synced if the outcome is known
  /** @type {ListWatchError | undefined} the reason why the collection stopped; undefined while it is open */
  #stopped
  /** @type {ListWatchError | undefined} the error that stopped the collection; undefined if close() stopped it */
  #failure
  /** @type {State | undefined} the state after the collection stopped */
  #last
  #unlisten
  /** @type {Set<string> | undefined} after the collection was reopened: the keys that the new watch has not sent yet */
  #unconfirmed
  /** @type {Mirror['resuming']} the closed watch whose successor #timer waits for */
  #resuming
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer

  /**
   * @param {Spec} spec
   * @param {(() => Promise<string>) | undefined} token
   * @param {Pick<ListWatchOptions, 'signal' | 'trace'>} options
   * @param {() => Promise<Link>} connect
   */
  constructor(spec, token, { signal, trace }, connect) {
    this.#mirror = new Mirror(Object.keys(spec.indexes))
    this.#trace = trace
    const abort = () => this.#fail(new ListWatchError('aborted', 'listwatch: aborted', { cause: signal?.reason }))
    this.#unlisten = () => signal?.removeEventListener('abort', abort)
    this.#begin = () => {
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
      else connect().then((link) => this.#open(link, spec, token)).catch((error) => this.#fail(error))
    }
    this.#begin()
  }

  /** @param {Link} link @param {Spec} spec @param {Client['token']} token */
  #open(link, spec, token) {
    if (this.#stopped) return
    this.#link = link
    this.#immediate = !!link.immediate
    const end = link.open(spec, {
      records: (bytes) => this.#records(bytes), failed: (error) => this.#failed(error),
      // When another page opens the same collection, the shared worker asks this page for the objects. `replay` leaves out
      // those that a new watch has not confirmed, because they may no longer exist.
      state: () => this.#mirror.state, replay: () => replay(this.#mirror, this.#unconfirmed), token,
    })
    if (this.#stopped) end()
    else this.#end = end
  }

  // The promise is created on first use, because the rejection of an unused promise would be reported as unhandled.
  get synced() {
    return this.#synced ??= new Promise((resolve, reject) => {
      this.#settle = () => {
        if (this.#mirror.synced) resolve()
        else if (this.#stopped) reject(this.#stopped)
      }
      this.#settle()
    })
  }

  get size() { return this.#mirror.items.size }
  get state() { return this.#last ?? this.#mirror.state }

  /** @param {string} key */
  get(key) { return this.#mirror.items.get(key)?.object }

  /** @param {string} key */
  item(key) { return this.#mirror.items.get(key) }

  /** @param {string} index @param {string} value */
  by(index, value) { return this.getSnapshot().by(index, value) }

  list() { return this.getSnapshot().list() }

  getSnapshot() { return this.#snapshot ??= new Snapshot(this.#mirror, this.state) }

  /** @param {(changes: Change[]) => void} callback */
  subscribe(callback) {
    const queue = new Changes()
    return this.#add({ queue, notify: () => callback(queue.take()) })
  }

  /** @param {Subscriber} subscriber */
  #add(subscriber) {
    this.#subscribers.add(subscriber)
    return () => { this.#subscribers.delete(subscriber) }
  }

  retry() {
    const { phase, cause } = this.state
    if (phase !== 'stopped') this.#link?.wake()
    else if (cause) this.#reopen() // close() sets no cause
  }

  close() { this.#stop(new ListWatchError('aborted', 'listwatch: the collection was closed')) }

  /** @returns {AsyncGenerator<PublicChange<any>, void, undefined>} */
  [Symbol.asyncIterator]() {
    const reader = { left: false, wake() {} }
    const changes = this.#changes(reader)
    // return() and throw() of a generator wait for a pending next(). These wrappers wake the generator first, so that
    // next() ends.
    for (const way of /** @type {const} */ (['return', 'throw'])) {
      const leave = changes[way]
      changes[way] = (/** @type {any} */ value) => {
        reader.left = true
        reader.wake()
        return leave.call(changes, value)
      }
    }
    return changes
  }

  /** @param {{ left: boolean, wake: () => void }} reader @returns {AsyncGenerator<PublicChange<any>, void, undefined>} */
  async *#changes(reader) {
    const queue = new Changes()
    for (const item of this.#mirror.items.values()) {
      queue.add(new Change('added', item, undefined, { initial: true, stale: this.#mirror.isStale(item) }))
    }
    const unsubscribe = this.#add({ queue, notify: () => reader.wake() })
    try {
      while (true) {
        for (let change; (change = queue.shift());) yield change
        if (this.#failure) throw this.#failure
        if (this.#stopped || reader.left) return
        await new Promise((/** @type {(nothing: void) => void} */ resolve) => { reader.wake = resolve })
      }
    } finally {
      unsubscribe()
    }
  }

  /** @param {Uint8Array} bytes */
  #records(bytes) {
    if (this.#stopped) return
    decode(bytes, (kind, fields) => {
      report(kind, fields, this.#trace)
      if (!this.#unconfirmed || this.#confirm(kind, fields)) this.#apply(kind, fields)
    })
    this.#settle()
    const { phase, cause } = this.#mirror.state
    if (phase === 'stopped' && cause) this.#fail(cause)
    if (!this.#stopped) this.#expectResume()
    this.#notifySoon()
  }

  // Starts a timer if a watch was closed cleanly and should resume soon, and clears it if the watch has resumed. Servers close
  // each watch after some minutes, so until the timer fires, the collection stays live instead of flickering. The timer runs
  // in the page, because a worker that has died sends nothing.
  #expectResume() {
    const { resuming } = this.#mirror
    if (resuming === this.#resuming) return
    clearTimeout(this.#timer)
    this.#resuming = resuming
    if (resuming) this.#timer = setTimeout(() => {
      this.#mirror.expire()
      this.#notifySoon()
    }, resuming.timeout)
  }

  /** @param {number} kind @param {string[]} fields */
  #apply(kind, fields) {
    for (const change of this.#mirror.apply(kind, fields)) {
      for (const { queue } of this.#subscribers) queue.add(change)
    }
  }

  /** Handles the failure of the watch. A collection restarts after a crash. @param {ListWatchError} error */
  #failed(error) {
    const now = Date.now()
    this.#restarts = this.#restarts.filter((at) => now - at < 60_000)
    const restarts = error.code === 'crashed' && this.#restarts.push(now) <= MAX_RESTARTS
    // A failure to load the module rejects init, so the console does not repeat it for each collection.
    if (error.code !== 'load') report(WARNING, [error.message + (restarts ? '; the collection restarts' : '')], this.#trace)
    if (restarts) this.#reopen(error)
    else this.#fail(error)
  }

  /** Opens the collection again, and keeps its objects until the new watch has sent all objects. @param {ListWatchError} [cause] */
  #reopen(cause) {
    this.#end?.()
    if (this.#stopped) this.#synced = undefined // may be rejected
    this.#end = this.#stopped = this.#failure = this.#last = undefined
    this.#unconfirmed = new Set(this.#mirror.items.keys())
    this.#apply(UNSAVED, ['']) // clears the error of the previous watch; the new one tries to save again
    this.#mirror.restart(cause)
    this.#expectResume()
    this.#notifySoon()
    this.#begin()
  }

  /**
   * Tracks which objects a new watch has sent. When its list is complete, the other objects are deleted. Returns whether to
   * apply the record. An object that was loaded from IndexedDB is ignored unless it is newer than the known one. If the object
   * is unknown, it must be newer than the collection, because otherwise its deletion is already known.
   * @param {number} kind @param {string[]} fields
   */
  #confirm(kind, [key, , , version]) {
    if (kind === ADDED || kind === MODIFIED || kind === SAVED) this.#unconfirmed?.delete(key)
    if (kind === SYNCED) {
      for (const missing of this.#unconfirmed ?? []) this.#apply(DELETED, [missing, '', '1']) // with an unknown final state
      this.#unconfirmed = undefined
    }
    return kind !== SAVED || isNewer(version, (this.item(key) ?? this.state).resourceVersion)
  }

  // Calls #notify after a change in the next animation frame, because a page cannot show more. Without a frame, for example in
  // a hidden page, it calls #notify after 16 ms, about the length of a frame.
  #notifySoon() {
    this.#snapshot = undefined
    if (this.#immediate) return this.#notify()
    if (this.#due) return
    this.#due = true
    let frame = 0
    const notify = () => {
      clearTimeout(timer)
      if (frame) cancelAnimationFrame(frame)
      this.#due = false
      this.#notify()
    }
    const timer = setTimeout(notify, 16)
    if (globalThis.document?.visibilityState === 'visible') frame = requestAnimationFrame(notify)
  }

  #notify() {
    for (const subscriber of [...this.#subscribers]) {
      if (!this.#subscribers.has(subscriber)) continue // an earlier callback removed this subscriber
      callSafely(() => subscriber.notify())
    }
  }

  /** @param {ListWatchError} error */
  #fail(error) {
    if (!this.#stopped) this.#failure = error
    this.#stop(error)
  }

  /** @param {ListWatchError} error */
  #stop(error) {
    if (this.#stopped) return
    this.#stopped = error
    const { state } = this.#mirror
    const since = state.phase === 'stopped' ? state.since : Date.now()
    this.#last = Object.freeze({ ...state, phase: 'stopped', since, cause: this.#failure, retryAt: undefined })
    clearTimeout(this.#timer)
    this.#unlisten()
    this.#end?.()
    this.#settle()
    this.#notifySoon()
  }
}

// Reports whether the resourceVersion `a` is higher than `b`. It compares strings, because JavaScript numbers have only 53 bits.
/** @param {string} a @param {string} b */
const isNewer = (a, b) => (a.length === b.length ? a > b : a.length > b.length)
