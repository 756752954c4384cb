/** Two changes of an object as one; undefined if together they are nothing. */
export let merge

/** What happened to an object; see index.d.ts. */
export class Change {
  #before

  static {
    merge = (first, then) => {
      const was = first.type !== 'added', is = then.type !== 'deleted'
      if (!was && !is) return undefined
      if (was) return new Change(is ? 'modified' : 'deleted', then.item, first.#before, then)
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

/** Changes that were not told yet: of each object one, from what was told to what is now. */
export class Changes {
  #all = new Map()
  #next // goes through it, and sees what is added meanwhile

  get size() { return this.#all.size }

  add(change) {
    const first = this.#all.get(change.key)
    const merged = first ? merge(first, change) : change
    if (merged) this.#all.set(change.key, merged)
    else this.#all.delete(change.key)
  }

  /** Takes all. */
  take() {
    const all = [...this.#all.values()]
    this.#all.clear()
    return all
  }

  /** Takes the one that waits longest, if there is one. */
  shift() {
    this.#next ??= this.#all.values()
    const { value: change } = this.#next.next()
    if (change) this.#all.delete(change.key)
    else this.#next = undefined
    return change
  }
}
