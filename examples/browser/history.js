// Keeps the recent changes. The objects of a change are parsed only when the details pane shows the change.

/**
 * @import { Change } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 *
 * @typedef {object} Entry
 * @property {Change<Kube>} change
 * @property {number} at time of arrival in milliseconds
 * @property {string} before the resourceVersion of the collection before the change
 * @property {string} after the resourceVersion of the collection after the change
 */

// The history keeps at most 2 * MOST changes, and lists at most MOST_OF_ONE of one object, because changes keep old
// objects in memory. It removes MOST changes at once, because removing the first element of a long array is slow.
const MOST = 1000, MOST_OF_ONE = 20

export class History {
  /** @type {Entry[]} Oldest first. */
  #entries = []
  /** @type {Map<string, Entry[]>} */
  #byKey = new Map()

  /** @param {Entry} entry */
  add(entry) {
    const { change } = entry
    this.#entries.push(entry)
    const own = this.#byKey.get(change.key)
    if (own) own.push(entry)
    else this.#byKey.set(change.key, [entry])
    if (own && own.length > MOST_OF_ONE) own.shift()
    if (this.#entries.length >= 2 * MOST) this.#trim()
  }

  #trim() {
    for (const entry of this.#entries.splice(0, MOST)) {
      const own = this.#byKey.get(entry.change.key)
      if (own?.[0] === entry) own.shift()
      if (own && !own.length) this.#byKey.delete(entry.change.key)
    }
  }

  /**
   * Returns the changes of an object, newest first.
   * @param {string} key
   */
  of(key) {
    return [...this.#byKey.get(key) ?? []].reverse()
  }
}

/** Counts changes per second over the last minute. */
export class Rate {
  #counts = new Array(60).fill(0)
  #second = 0

  /**
   * @param {number} n
   * @param {number} now in milliseconds
   */
  add(n, now) {
    this.#move(now)
    this.#counts[this.#second % 60] += n
  }

  /** @param {number} now */
  #move(now) {
    const second = Math.floor(now / 1000)
    if (second - this.#second > 60) this.#counts.fill(0)
    else for (let s = this.#second + 1; s <= second; s++) this.#counts[s % 60] = 0
    this.#second = Math.max(this.#second, second)
  }

  /**
   * Returns the counts of the last 60 seconds, oldest first. The last second is incomplete.
   * @param {number} now in milliseconds
   */
  list(now) {
    this.#move(now)
    return Array.from({ length: 60 }, (_, i) => this.#counts[(this.#second + 1 + i) % 60])
  }

  /**
   * Returns the mean number of changes per second over the last five full seconds.
   * @param {number} now in milliseconds
   */
  now(now) {
    return this.list(now).slice(-6, -1).reduce((sum, n) => sum + n, 0) / 5
  }
}
