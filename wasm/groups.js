/** @import { Item } from './mirror.js' */

/** @typedef {ReadonlyMap<string, readonly Item[]>} Grouped the items of each value, sorted by key */

/** The list of a value without items. @type {readonly Item[]} */
export const NONE = Object.freeze([])

/** Compares items by key. @param {{ key: string }} a @param {{ key: string }} b */
const byKey = (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

/**
 * Groups items by the value that `valueOf` returns. Items with an empty value are omitted.
 * @param {Iterable<Item>} items
 * @param {(item: Item) => string} valueOf
 */
export function group(items, valueOf) {
  /** @type {Map<string, Item[]>} */
  const groups = new Map()
  for (const item of items) {
    const value = valueOf(item), members = groups.get(value)
    if (members) members.push(item)
    else if (value) groups.set(value, [item])
  }
  for (const members of groups.values()) members.sort(byKey)
  return groups
}

/** Items grouped by value. The groups are built on first use. After a change, only the affected groups are copied. */
export class Groups {
  #items
  #valueOf
  /** @type {Map<string, Item[]> | undefined} undefined before the first use */
  #working
  /** @type {Grouped} frozen copies of the arrays in #working, which stay unfrozen because V8 copies frozen arrays slowly */
  #copies = new Map()
  /** @type {Set<string>} the values whose copies are outdated */
  #changed = new Set()

  /** @param {ReadonlyMap<string, Item>} items @param {(item: Item) => string} valueOf */
  constructor(items, valueOf) {
    this.#items = items
    this.#valueOf = valueOf
  }

  /** Returns an immutable copy of the groups. @returns {Grouped} */
  get() {
    if (!this.#working) {
      this.#working = group(this.#items.values(), this.#valueOf)
      this.#changed = new Set(this.#working.keys())
    }
    if (!this.#changed.size) return this.#copies
    const copies = new Map(this.#copies)
    for (const value of this.#changed) {
      const members = this.#working.get(value)
      if (members) copies.set(value, Object.freeze(members.slice()))
      else copies.delete(value)
    }
    this.#changed.clear()
    return this.#copies = copies
  }

  /** Returns the groups, or undefined if get() was never called. */
  used() {
    return this.#working && this.get()
  }

  /**
   * Replaces `old` with `item`. Without `old`, it adds the item. Without `item`, it removes the old item.
   * @param {Item | undefined} old
   * @param {Item | undefined} item an item with the same key as `old`
   */
  replace(old, item) {
    if (!this.#working) return
    const from = old && this.#valueOf(old), to = item && this.#valueOf(item)
    if (old && from && from !== to) this.#edit(from, old.key)
    if (item && to) this.#edit(to, item.key, item)
  }

  /** Sets the member of a group with this key. Without `item`, it removes the member. @param {string} value @param {string} key @param {Item} [item] */
  #edit(value, key, item) {
    const groups = /** @type {Map<string, Item[]>} */ (this.#working)
    const members = groups.get(value) ?? []
    const at = search(members, key), known = members[at]?.key === key
    if (known && item) members[at] = item
    else members.splice(at, known ? 1 : 0, ...(item ? [item] : []))
    if (members.length) groups.set(value, members)
    else groups.delete(value)
    this.#changed.add(value)
  }
}

/** Returns the position of the key in the sorted items, or the position where it belongs. @param {readonly Item[]} items @param {string} key */
export function search(items, key) {
  let from = 0, to = items.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (items[middle].key < key) from = middle + 1
    else to = middle
  }
  return from
}
