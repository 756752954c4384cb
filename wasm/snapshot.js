/** @import { State } from './types.js' */
/** @import { Grouped } from './groups.js' */
/** @import { Mirror } from './mirror.js' */

import { NONE, group, search } from './groups.js'
import { valuesOf } from './mirror.js'

/**
 * The objects and the state of a collection when the snapshot was taken. It never changes, because React compares values by
 * identity and all components of a render must see the same state. See Snapshot in index.d.ts.
 */
export class Snapshot {
  #list
  #mirror
  /** @type {(Grouped | undefined)[]} the groups of each index; undefined until a reader needs them, because grouping is slow */
  #groups

  /** @param {Mirror} mirror @param {State} state */
  constructor(mirror, state) {
    this.#list = mirror.list()
    this.#groups = mirror.indexes.map((index) => index.used())
    this.#mirror = mirror
    this.state = state
    Object.freeze(this)
  }

  get size() { return this.#list.length }

  /** @param {string} key */
  get(key) { return this.item(key)?.object }

  /** @param {string} key */
  item(key) {
    const item = this.#list[search(this.#list, key)]
    return item?.key === key ? item : undefined
  }

  list() { return this.#list }

  /** @param {string} index @param {string} value */
  by(index, value) {
    const at = this.#mirror.indexOf(index)
    // If no object has changed since the snapshot, the mirror has the same groups. It only updates them after a change.
    const groups = this.#groups[at] ??= this.#mirror.list() === this.#list
      ? this.#mirror.indexes[at].get()
      : group(this.#list, (item) => valuesOf(item)[at])
    return groups.get(value) ?? NONE
  }
}
