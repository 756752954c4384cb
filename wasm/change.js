/** Merges a change of an object into an earlier one that is no deletion; undefined if together they are nothing. */
let merge

/** What happened to an object; see index.d.ts. */
export class Change {
  #before

  static {
    merge = (first, then) => {
      const was = first.type !== 'added'
      if (was) return new Change(then.type, then.item, first.#before, then)
      if (then.type === 'deleted') return undefined
      return new Change('added', then.item, undefined, { initial: first.initial, stale: then.stale })
    }
  }

  constructor(type, item, before, { initial = false, stale = false, missed = false } = {}) {
    this.type = type
    this.key = item.key
    this.item = item
    this.initial = initial
    this.stale = stale
    this.missed = missed
    this.#before = before
  }

  get object() { return this.item.object }
  get old() { return this.#before?.object }
}

/**
 * Changes that wait for a reader. One waits for each object, from the state that the reader knows to the state now. Two wait
 * if the object was deleted and added again.
 */
export class Changes {
  #all = new Map()
  #again = new Map() // additions of objects whose deletion is in #all
  #next // goes through #all, and sees what is added meanwhile
  #first // the key of an addition whose deletion was just taken

  get size() { return this.#all.size + this.#again.size }

  add(change) {
    const { key } = change, changes = this.#again.has(key) ? this.#again : this.#all
    const first = changes.get(key)
    if (first?.type === 'deleted') return this.#again.set(key, change)
    const merged = first ? merge(first, change) : change
    if (merged) changes.set(key, merged)
    else changes.delete(key)
  }

  /** Takes all. */
  take() {
    const all = [...this.#all.values()].flatMap((change) => this.#again.has(change.key) ? [change, this.#again.get(change.key)] : change)
    this.#all.clear()
    this.#again.clear()
    return all
  }

  /** Takes the one that waits longest, if there is one. */
  shift() {
    this.#next ??= this.#all.values()
    const change = this.#all.get(this.#first) ?? this.#next.next().value
    if (!change) return this.#next = undefined
    const { key } = change, again = this.#again.get(key)
    if (again) this.#all.set(key, again)
    else this.#all.delete(key)
    this.#again.delete(key)
    this.#first = again && key
    return change
  }
}
