/** What happened to an object; see index.d.ts. */
export class Change {
  constructor(type, item, before, { initial = false, stale = false, missed = false } = {}) {
    this.type = type
    this.key = item.key
    this.item = item
    this.before = before
    this.initial = initial
    this.stale = stale
    this.missed = missed
  }

  get object() { return this.item.object }
  get old() { return this.before?.object }

  /** The two as one; undefined if together they are nothing. */
  after(first) {
    const was = first.type !== 'added', is = this.type !== 'deleted'
    if (!was && !is) return undefined
    return new Change(was ? (is ? 'modified' : 'deleted') : 'added', this.item, first.before, this)
  }
}

/** Changes that were not told yet: of each object one, from what was told to what is now. */
export class Changes {
  #all = new Map()

  get size() { return this.#all.size }

  add(change) {
    const first = this.#all.get(change.key)
    const merged = first ? change.after(first) : change
    if (merged) this.#all.set(change.key, merged)
    else this.#all.delete(change.key)
  }

  take() {
    const all = [...this.#all.values()]
    this.#all.clear()
    return all
  }
}
