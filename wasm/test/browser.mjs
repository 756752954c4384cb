// Simulates a browser page in Node. Tests control its workers, ports, locks and events. The simulated workers run
// worker.js.
import assert from 'node:assert/strict'

/** Simulates Web Locks. `kill(name)` releases a lock as if its holder had crashed. */
class Locks {
  names = [] // names of the granted exclusive locks, from oldest to newest
  #queues = new Map()
  #holders = new Map()

  request(name, options, given = options) {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(name) ?? []
      this.#queues.set(name, queue)
      queue.push({ given, shared: options?.mode === 'shared', resolve, reject })
      queueMicrotask(() => this.#next(name))
    })
  }

  async #next(name) {
    const queue = this.#queues.get(name)
    if (this.#holders.has(name) || !queue.length) return
    const { given, shared, resolve, reject } = queue.shift()
    if (!shared) this.names.push(name)
    const killed = new Promise((kill) => this.#holders.set(name, kill))
    try {
      resolve(await Promise.race([given(), killed]))
    } catch (error) {
      reject(error)
    }
    this.#holders.delete(name)
    this.#next(name)
  }

  kill(name) {
    this.#holders.get(name)?.()
  }

  held(name) {
    return this.#holders.has(name)
  }
}

const startTimer = globalThis.setTimeout
const LIMITS = [1000, 5000, 20_000] // in ms; how long the page and its worker wait for answers, and the worker for the module
let imports = 0

// A collection may call these functions after its test has ended.
globalThis.requestAnimationFrame = (f) => setTimeout(f)
globalThis.cancelAnimationFrame = clearTimeout

/**
 * Defines the global variables of a page until the test ends, and returns an object that controls the page. `shared`
 * and `worker` set the behavior of new workers: "works", "throws", "errors", or a function that receives the worker's
 * port.
 */
export function browser(t, { shared = 'works', worker = 'works' } = {}) {
  const at = {
    shared, worker, locks: new Locks(), events: new EventTarget(), document: Object.assign(new EventTarget(), { visibilityState: 'visible' }),
    started: [], // [kind, URL, name]
    workers: [], ports: [], scopes: new Map(),
    /** Imports a new copy of index.js, which behaves like another page. */
    page: () => import(`../index.js?page=${++imports}`),
    /** Runs a new copy of worker.js. Returns a function that connects a port to it. */
    async run() {
      globalThis.onconnect = null
      await import(`../worker.js?worker=${++imports}`)
      const { onconnect } = globalThis
      delete globalThis.onconnect
      return (port) => onconnect({ ports: [port] })
    },
    /** Removes the shared workers. The next connection starts a new worker. */
    die() {
      at.scopes.clear()
    },
  }

  const start = (kind, how, url, name, object) => {
    at.started.push([kind, String(url), name])
    if (how === 'throws') throw Object.assign(new Error('not allowed here'), { name: 'SecurityError' })
    const { port1, port2 } = new MessageChannel()
    at.ports.push(port1, port2)
    at.workers.push(object)
    if (how === 'errors') return port1, setImmediate(() => object.onerror?.({ message: undefined })), port1
    if (typeof how === 'function') how(port2)
    else {
      if (!at.scopes.has(name) || kind === 'worker') at.scopes.set(name, at.run())
      at.scopes.get(name).then((connect) => connect(port2))
    }
    return port1
  }
  class SharedWorker {
    constructor(url, { name, type }) {
      assert.equal(type, 'module')
      this.port = start('shared', at.shared, url, name, this)
    }
  }
  class Worker {
    #port
    constructor(url, { type }) {
      assert.equal(type, 'module')
      this.#port = start('worker', at.worker, url, 'worker', this)
    }
    postMessage(...message) { this.#port.postMessage(...message) }
    terminate() { this.terminated = true; this.#port.close() }
    set onmessage(f) { this.#port.onmessage = f }
    set onmessageerror(f) { this.#port.onmessageerror = f }
  }

  const globals = {
    SharedWorker, Worker, document: at.document, origin: 'null', location: new URL('http://page/index.html'), navigator: { locks: at.locks },
    addEventListener: (...all) => at.events.addEventListener(...all),
  }
  // A busy machine can pause this process for longer than these limits, so they never end unless the test mocks the timers.
  if (globalThis.setTimeout === startTimer) globals.setTimeout = (f, ms, ...more) => (LIMITS.includes(ms) ? undefined : startTimer(f, ms, ...more))
  const before = new Map(Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]))
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  t.after(() => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor)
      else delete globalThis[name]
    }
    at.ports.forEach((port) => port.close())
  })
  return at
}
