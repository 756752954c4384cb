// A browser opens at most six connections over HTTP/1.1 to an origin, for all tabs together, and a watch occupies one of them.
// So watches over HTTP/1.1 need a slot, of which each server has two. These always hold:
// - A slot is a lock, and a watch holds it as long as its request is open. The browser shares locks among all tabs and workers
//   of an origin, and releases those of a tab that crashes. A page in an insecure context or a sandboxed frame may not use
//   locks. There each realm has two slots.
// - A watch that waits is queued at one slot, and the next one at the other. One that is closed meanwhile leaves its slot at
//   once when it gets it.
// - A watch that has held a slot for a turn gives it up when another one waits for this slot.
// - HTTP/2, HTTP/3 and Node need no slots. An unknown protocol counts as HTTP/1.1.

const TURN = 5000 // ms
const LATE = 200 // ms, after which the browser has reported a response that ended

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// Node has no bound, and needs no locks.
const locksOfHost = () => globalThis.process?.versions?.node ? undefined : navigator.locks ?? new Locks()

export class Slots {
  #protocols = new Map() // by origin; '' for one that the browser does not report
  #waited = 0 // how many watches
  #own = new Locks()
  #locks
  #wait

  /** The parameters are for tests. */
  constructor(locks = locksOfHost(), Observer = globalThis.PerformanceObserver, wait = pause) {
    this.#locks = locks
    this.#wait = wait
    if (locks) new Observer((list) => this.#observe(list.getEntries())).observe({ type: 'resource', buffered: true })
  }

  #observe(entries) {
    for (const { name, nextHopProtocol } of entries) {
      const { origin } = new URL(name)
      if (nextHopProtocol || !this.#protocols.has(origin)) this.#protocols.set(origin, nextHopProtocol)
    }
  }

  /**
   * Takes a slot of a server for a watch, which holds it until the promise `closed` resolves. Resolves with "" if the watch
   * needs no slot, and with "busy" if none is free and the watch does not wait. `over` resolves when the turn is over.
   */
  async take(server, waits, closed) {
    if (!this.#locks) return ''
    const { origin } = new URL(server)
    if (!this.#protocols.has(origin)) await this.#wait(LATE)
    if (/^h[23]/.test(this.#protocols.get(origin))) return ''
    const names = [1, 2].map((n) => `listwatch connection ${origin} ${n}`)
    let lock
    if (waits) lock = await this.#hold(names[this.#waited++ % 2], false, closed)
    else for (const name of names) lock ??= await this.#hold(name, true, closed)
    return lock ? { text: 'slot', over: this.#over(lock.name, closed) } : 'busy'
  }

  #hold(name, ifAvailable, closed) {
    return new Promise((resolve, reject) => {
      this.#locks.request(name, { ifAvailable }, (lock) => {
        resolve(lock)
        return lock && closed
      }).catch(reject)
    }).catch((error) => {
      if (error.name !== 'SecurityError') throw error
      this.#locks = this.#own // a sandboxed frame, or a page without storage, may not use the browser's
      return this.#hold(name, ifAvailable, closed)
    })
  }

  async #over(name, closed) {
    const ended = closed.then(() => true)
    while (!await Promise.race([ended, this.#wait(TURN)])) {
      if ((await this.#locks.query()).pending.some((lock) => lock.name === name)) return
    }
  }
}

/** The part of navigator.locks that is needed here, for one realm. */
export class Locks {
  #queues = new Map() // by name, what starts each request; the first has the lock

  async request(name, { ifAvailable }, use) {
    const queue = this.#queues.get(name) ?? []
    if (ifAvailable && queue[0]) return use(null)
    this.#queues.set(name, queue)
    await new Promise((start) => {
      queue.push(start)
      queue[0]()
    })
    try {
      await use({ name })
    } finally {
      queue.shift()
      queue[0]?.()
    }
  }

  query() {
    return { pending: [...this.#queues].flatMap(([name, queue]) => queue.slice(1).map(() => ({ name }))) }
  }
}
