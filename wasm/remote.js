// Runs the collections of a page in a worker.

/** @import { Link } from './connect.js' */
/** @import { PageClient } from './host.js' */
/** @import { FromPage, FromWorker, Source } from './messages.js' */
/** @import { Spec } from './spec.js' */

import { ListWatchError } from './error.js'
import { later } from './later.js'
import { holdLifetimeLock, lifetimeEnd } from './lifetime.js'
import { Channel, PROTOCOL, crashed, errorOf } from './messages.js'
import { NotStarted, spawn } from './spawn.js'

// The longest waits for the first answer of a worker, in ms. The short one ends an attempt that another attempt or another kind
// of worker can follow. The last attempt lasts longer, because a busy machine may need that time to load the worker.
const SHORT_WAIT = 5000, LONG_WAIT = 20_000

/**
 * Starts a worker. When the worker has answered the greeting, it returns the link to the worker. It throws NotStarted if the worker fails
 * earlier. A later failure, for example to load the module, calls `failed`, and the page then needs another link.
 *
 * Chromium may connect a page to a shared worker that has just closed and never answers, so a shared worker has two
 * attempts. This is harmless for a worker that is only slow: it closes the first connection, whose lock is released.
 * @param {'shared' | 'worker'} mode
 * @param {Source} wasm
 * @param {string | undefined} script the absolute URL of the worker's script
 * @param {() => void} failed is called if the worker fails after it has answered the greeting
 * @param {boolean} replaceable whether the caller can use another kind of worker
 * @returns {Promise<Link>}
 */
export async function startWorker(mode, wasm, script, failed, replaceable, attempts = mode === 'shared' ? 2 : 1) {
  /** @type {Map<number, { client: PageClient, spec: Spec }>} */
  const opened = new Map()
  /** @type {Awaited<ReturnType<typeof holdLifetimeLock>> | undefined} */
  let pageLock
  /** @type {ListWatchError | undefined} */
  let failure
  let answered = false, ready = false, loaded = false, last = 0 // the number of the last collection

  // Disconnects from the worker after an error that affects all of it. A shared worker may crash together with another tab,
  // and the browser may end any worker.
  const down = (/** @type {unknown} */ error) => {
    if (failure) return
    failure = crashed('the worker failed', error)
    channel.end(failure) // rejects the pending calls
    stop()
    pageLock?.release() // makes the shared worker close the collections of this page
    if (!ready) return
    failed() // runs first, so that a client that reopens its collection gets a new worker
    // While the module loads, collections do not restart, so that the application can call init with other options.
    const reason = loaded ? failure : new ListWatchError('load', failure.message, { cause: failure })
    for (const { client } of [...opened.values()]) client.failed(reason)
  }
  const { port, stop, url } = spawn(mode, script, ({ message }) => down(answered ? crashed('the worker failed', message) : new NotStarted(mode, url, message)))
  /** @type {Channel<FromWorker, FromPage>} */
  const channel = new Channel(port, {
    records({ collection, bytes }) {
      const { client, spec } = opened.get(collection) ?? {} // undefined if the collection was closed
      client?.records(bytes)
      if (client && spec && mode === 'shared') preconnect(client, spec)
    },
    failed: ({ collection, error }) => opened.get(collection)?.client.failed(errorOf(error)),
    broken: ({ error }) => down(errorOf(error)),
    token: async ({ collection }) => await opened.get(collection)?.client.token?.() ?? '',
    async replay({ collection }, part) {
      const { client } = opened.get(collection) ?? {}
      if (!client) throw new ListWatchError('closed', 'listwatch: the collection was closed')
      for (const bytes of client.replay()) {
        part(bytes)
        await new Promise((/** @type {(nothing: void) => void} */ resolve) => later(resolve)) // lets the page handle other events
      }
    },
  }, down)
  /** @type {Link} */
  const link = {
    open(spec, client) {
      const collection = ++last
      if (failure) client.failed(failure)
      else opened.set(collection, { client, spec })
      channel.send({ type: 'open', collection, spec })
      return () => {
        opened.delete(collection)
        channel.send({ type: 'close', collection })
      }
    },
    wake: () => channel.send({ type: 'wake' }),
  }
  const preconnect = preconnector(link)

  const timeout = attempts > 1 || (mode === 'shared' && replaceable) ? SHORT_WAIT : LONG_WAIT
  try {
    // The worker starts while the page waits for its lock. A dedicated worker needs no lock, because it ends with the page.
    if (mode === 'shared') pageLock = await holdLifetimeLock().catch((error) => { throw new NotStarted(mode, url, error) })
    if (failure) pageLock?.release()
    const greeted = channel.call({ type: 'hello', protocol: PROTOCOL, lock: pageLock?.name ?? '' }, timeout).finally(() => {
      answered = !failure
    })
    // The worker loads the module before it has answered the greeting, because its lock takes some time, too.
    link.loaded = channel.call({ type: 'load', wasm }).then(() => { loaded = true })
    link.loaded.catch(down)
    const workerLock = await greeted
    if (workerLock) lifetimeEnd(workerLock).then(() => down(crashed('the worker is gone'))).catch(down)
    ready = true
    return link
  } catch (error) {
    down(error)
    if (/** @type {ListWatchError} */ (error).code !== 'silent') throw error
    if (attempts > 1) return startWorker(mode, wasm, script, failed, replaceable, attempts - 1)
    throw new NotStarted(mode, url, error)
  }
}

/**
 * Returns a function that connects the page to the server of a collection if the worker cannot, and then wakes the worker.
 * Chromium rejects a shared worker's connections to a server that requests client certificates, until a page has connected
 * to that server. Most kube-apiservers request them.
 * @param {Link} link
 * @returns {(client: PageClient, spec: Spec) => void}
 */
function preconnector(link) {
  /** @type {Set<string>} the servers that the page has contacted since their collections were live */
  const contacted = new Set()
  return (client, { endpoint: { server } }) => {
    const { phase, cause, retryAt } = client.state()
    if (phase === 'live') contacted.delete(server)
    if (retryAt === undefined || cause?.code !== 'network' || !server.startsWith('https:') || contacted.has(server)) return
    contacted.add(server)
    // eslint-disable-next-line no-restricted-syntax -- the collection reports that the server is unreachable
    fetch(server, { mode: 'no-cors', credentials: 'omit', cache: 'no-store' }).then(() => link.wake(), () => contacted.delete(server))
  }
}
