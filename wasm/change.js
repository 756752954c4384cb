/** @import { Item } from './mirror.js' */

/** A change of one object. See Change in index.d.ts. */
export class Change {
  #before

  /**
   * @param {'added' | 'modified' | 'deleted'} type
   * @param {Item} item the new state of the object, or its last known state if it was deleted
   * @param {Item} [before] the previous state; undefined for an addition
   * @param {{ initial?: boolean, stale?: boolean, finalStateUnknown?: boolean }} [flags]
   */
  constructor(type, item, before, { initial = false, stale = false, finalStateUnknown = false } = {}) {
    this.type = type
    this.key = item.key
    this.item = item
    this.initial = initial
    this.stale = stale
    this.finalStateUnknown = finalStateUnknown
    this.#before = before
  }

  get object() { return this.item.object }
  get old() { return this.#before?.object }

  /**
   * Merges two consecutive changes of one object. A deletion followed by an addition remains two changes. An addition
   * followed by a deletion results in no change.
   * @param {Change} first
   * @param {Change} next
   * @returns {Change[]}
   */
  static merge(first, next) {
    if (first.type === 'deleted') return [first, next]
    if (first.type === 'modified') return [new Change(next.type, next.item, first.#before, next)]
    return next.type === 'deleted' ? [] : [new Change('added', next.item, undefined, { initial: first.initial, stale: next.stale })]
  }
}

/**
 * Queues changes for one reader. It merges the unread changes of each object into one, or into two if the object was
 * deleted and added again.
 */
export class Changes {
  /** @type {Map<string, Change[]>} the unread changes by key: one change, or a deletion followed by an addition */
  #waiting = new Map()
  /** @type {Iterator<Change[]> | undefined} visits #waiting in order, including keys that are added during the visit */
  #visit
  /** @type {Change[]} the changes of the visited key */
  #current = []

  /** @param {Change} change */
  add(change) {
    const changes = this.#waiting.get(change.key)
    const last = changes?.pop()
    if (!changes || !last) return void this.#waiting.set(change.key, [change])
    changes.push(...Change.merge(last, change))
    if (!changes.length) this.#waiting.delete(change.key)
  }

  /** Removes and returns all changes. */
  take() {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return all
  }

  /** Removes and returns the next change, or undefined if the queue is empty. */
  shift() {
    if (!this.#current.length) {
      this.#visit ??= this.#waiting.values()
      this.#current = this.#visit.next().value ?? []
    }
    const change = this.#current.shift()
    if (!change) this.#visit = undefined // a finished iterator would not visit the keys that are added later
    else if (!this.#current.length) this.#waiting.delete(change.key)
    return change
  }
}
