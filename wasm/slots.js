// A browser opens at most six HTTP/1.1 connections per origin for all tabs together, and each watch occupies one of
// them. So each server has only two slots for watches over HTTP/1.1. The other four connections remain for lists and for
// the application's own requests. These invariants hold:
// - A slot is a Web Lock. A watch holds a slot while its request is open. All tabs and workers of an origin share Web
//   Locks, and the browser releases the locks of a tab that crashes. An insecure context or a sandboxed frame has no
//   Web Locks, so it has its own two slots.
// - Waiting watches are queued alternately at the two slots. A watch that is closed while it waits releases its
//   slot immediately after acquiring it.
// - A watch that has held a slot for a turn releases the slot if another watch waits for it.
// - HTTP/2, HTTP/3 and Node need no slots. An unknown protocol counts as HTTP/1.1.

/** @import { Lease } from './glue.js' */

const TURN_DURATION = 5000 // in ms; how long a watch may hold a slot while others wait, and how often it checks this
const REPORT_DELAY = 200 // in ms; the longest time from the end of a response until browsers report its protocol

/**
 * The part of LockManager that slots use.
 * @typedef {object} LockService
 * @property {(name: string, options: { ifAvailable: boolean }, use: (lock: unknown) => unknown) => Promise<unknown>} request
 * @property {() => Promise<{ pending?: { name?: string }[] }>} query
 */

/** @type {(ms: number) => Promise<void>} */
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms) })

/** @returns {LockService | undefined} undefined in Node, which has no limit */
const availableLocks = () => (globalThis.process?.versions?.node ? undefined : navigator.locks ?? new Locks())

export class Slots {
  /** @type {Map<string, string>} by origin; "" if the browser does not report it */
  #protocols = new Map()
  #waited = 0 // the number of watches that have waited; determines the slot at which the next one is queued
  #locks
  #sleep

  /** Only tests pass arguments. */
  constructor(locks = availableLocks(), Observer = globalThis.PerformanceObserver, wait = sleep) {
    this.#locks = locks
    this.#sleep = wait
    if (locks) new Observer((list) => this.#observe(list.getEntries())).observe({ type: 'resource', buffered: true })
  }

  /** @param {PerformanceEntryList} entries */
  #observe(entries) {
    for (const { name, nextHopProtocol } of /** @type {PerformanceResourceTiming[]} */ (entries)) {
      const { origin } = new URL(name)
      if (nextHopProtocol || !this.#protocols.has(origin)) this.#protocols.set(origin, nextHopProtocol)
    }
  }

  /**
   * Acquires a slot for a watch and holds it until `closed` resolves. The slot is revoked when the turn of the watch is
   * over. The promise resolves to "" if the watch needs no slot, and to "busy" if no slot is free and `waits` is false.
   * @param {string} server
   * @param {boolean} waits
   * @param {Promise<void>} closed
   * @returns {Promise<string | Lease>}
   */
  async acquire(server, waits, closed) {
    if (!this.#locks) return ''
    const { origin } = new URL(server)
    if (!this.#protocols.has(origin)) await this.#sleep(REPORT_DELAY)
    if (/^h[23]/.test(this.#protocols.get(origin) ?? '')) return ''
    const names = [1, 2].map((n) => `listwatch connection ${origin} ${n}`)
    for (const name of waits ? [names[this.#waited++ % 2]] : names) {
      if (await this.#request(this.#locks, name, !waits, closed)) return { text: 'slot', revoked: this.#endOfTurn(this.#locks, name, closed) }
    }
    return 'busy'
  }

  /**
   * Requests a lock and holds it until `closed` resolves. The promise resolves to whether the lock was granted.
   * @param {LockService} locks @param {string} name @param {boolean} ifAvailable @param {Promise<void>} closed
   * @returns {Promise<boolean>}
   */
  #request(locks, name, ifAvailable, closed) {
    return new Promise((resolve, reject) => {
      locks.request(name, { ifAvailable }, (lock) => {
        resolve(!!lock)
        return lock && closed
      }).catch((error) => {
        if (error.name !== 'SecurityError') return reject(error)
        if (this.#locks === locks) this.#locks = new Locks() // Web Locks are forbidden, for example in a sandboxed frame
        resolve(this.#request(/** @type {LockService} */ (this.#locks), name, ifAvailable, closed))
      })
    })
  }

  /**
   * Resolves when the slot must be returned: when it is closed, or at the end of a turn if another watch waits for it.
   * @param {LockService} locks @param {string} name @param {Promise<void>} closed
   */
  async #endOfTurn(locks, name, closed) {
    const ended = closed.then(() => true)
    while (!await Promise.race([ended, this.#sleep(TURN_DURATION)])) {
      if ((await locks.query()).pending?.some((lock) => lock.name === name)) return
    }
  }
}

/** A LockService for a single page or worker. @implements {LockService} */
export class Locks {
  /** @type {Map<string, (() => void)[]>} by lock name: functions that grant the lock, first to its holder, then to waiting requests */
  #queues = new Map()

  /** @type {LockService['request']} */
  async request(name, { ifAvailable }, use) {
    const queue = this.#queues.get(name) ?? []
    if (ifAvailable && queue[0]) return use(null)
    this.#queues.set(name, queue)
    await new Promise((/** @type {(nothing: void) => void} */ grant) => {
      queue.push(grant)
      queue[0]()
    })
    try {
      await use(name)
    } finally {
      queue.shift()
      queue[0]?.()
    }
  }

  async query() {
    return { pending: [...this.#queues].flatMap(([name, queue]) => queue.slice(1).map(() => ({ name }))) }
  }
}
