// What happened lately, so that an object's detail can tell. The objects stay text until somebody looks.

const MOST = 1000, MOST_OF_ONE = 20

export class History {
  #entries = [] // oldest first
  #byKey = new Map()

  /** Takes `{ change, at, before, after }`: when it was told, and the versions of the collection around it. */
  add(entry) {
    const { change } = entry
    this.#entries.push(entry)
    const own = this.#byKey.get(change.key)
    if (own) own.push(entry)
    else this.#byKey.set(change.key, [entry])
    if (own?.length > MOST_OF_ONE) own.shift()
    if (this.#entries.length >= 2 * MOST) this.#forget()
  }

  #forget() {
    for (const entry of this.#entries.splice(0, MOST)) {
      const own = this.#byKey.get(entry.change.key)
      if (own?.[0] === entry) own.shift()
      if (own && !own.length) this.#byKey.delete(entry.change.key)
    }
  }

  /** What happened to an object, newest first. */
  of(key) {
    return [...this.#byKey.get(key) ?? []].reverse()
  }
}

/** Counts per second, over the last minute. */
export class Rate {
  #counts = new Array(60).fill(0)
  #second = 0

  add(n, now) {
    this.#move(now)
    this.#counts[this.#second % 60] += n
  }

  #move(now) {
    const second = Math.floor(now / 1000)
    if (second - this.#second > 60) this.#counts.fill(0)
    else for (let s = this.#second + 1; s <= second; s++) this.#counts[s % 60] = 0
    this.#second = Math.max(this.#second, second)
  }

  /** The last minute, oldest first; the second that has not ended is the last. */
  list(now) {
    this.#move(now)
    return Array.from({ length: 60 }, (_, i) => this.#counts[(this.#second + 1 + i) % 60])
  }

  /** Per second, over the last five whole ones. */
  now(now) {
    return this.list(now).slice(-6, -1).reduce((sum, n) => sum + n, 0) / 5
  }
}
