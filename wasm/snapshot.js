/** @import { State } from './types.js' */
/** @import { Item, Mirror } from './mirror.js' */

import { byKey, valuesOf } from './mirror.js'

/** @type {readonly Item[]} */
const NONE = Object.freeze([])

/** The state of a collection when the snapshot was taken. See Snapshot in index.d.ts. */
export class Snapshot {
  #items
  /** @type {Map<number, Map<string, Item[]>>} the items of each requested index, by value */
  #by = new Map()
  #mirror
  /** @type {readonly Item[] | undefined} */
  #list

  /** @param {Mirror} mirror @param {State} state */
  constructor(mirror, state) {
    this.#items = new Map(mirror.items)
    this.#mirror = mirror
    this.state = state
    Object.freeze(this)
  }

  get size() { return this.#items.size }

  /** @param {string} key */
  get(key) { return this.#items.get(key)?.object }

  /** @param {string} key */
  item(key) { return this.#items.get(key) }

  list() {
    return this.#list ??= Object.freeze([...this.#items.values()].sort(byKey))
  }

  /** @param {string} index @param {string} value */
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
