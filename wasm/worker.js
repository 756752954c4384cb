// Runs the WASM module in a worker: the worker of one page, or the SharedWorker of all tabs of an origin.

/** @import { FromPage, FromWorker, Port, Source } from './messages.js' */
/** @import { Member } from './shared.js' */

import { Ahead } from './ahead.js'
import { Engine } from './engine.js'
import { ListWatchError } from './error.js'
import { Host } from './host.js'
import { holdLifetimeLock, lifetimeEnd } from './lifetime.js'
import { Channel, PROTOCOL, crashed, failureOf, protocolError } from './messages.js'
import { SharedHost, TIMEOUT } from './shared.js'

/** @typedef {Channel<FromPage, FromWorker>} PageChannel */

const scope = /** @type {Port & EventTarget & { onconnect?: unknown }} */ (/** @type {unknown} */ (globalThis))
const shared = 'onconnect' in scope
const lock = holdLifetimeLock() // lets pages detect that this worker has died
const ahead = new Ahead()
/** @type {Host | undefined} */
let host
/** @type {Promise<Host> | undefined} */
let loading

if (shared) scope.onconnect = (/** @type {MessageEvent} */ { ports: [port] }) => serve(port)
else serve(scope)

// After an uncaught error the state is unknown, so all collections fail. While the module loads, they have no state yet, and the
// browser reports the error.
const uncaught = (/** @type {Event} */ event, /** @type {unknown} */ error) => {
  if (!host) return
  event.preventDefault()
  host.engine.die(error)
}
globalThis.addEventListener('error', (event) => uncaught(event, event.error ?? event.message))
globalThis.addEventListener('unhandledrejection', (event) => uncaught(event, event.reason))

/** @param {Source} wasm */
async function load(wasm) {
  loading ??= Engine.load(wasm, ahead).then((engine) => new (shared ? SharedHost : Host)(engine))
  try {
    host = await loading
  } catch (error) {
    loading = undefined // the next page tries again
    throw error
  }
}

/** @param {Port} port */
function serve(port) {
  /** @type {Map<number, () => void>} the functions that end the page's collections, by the page's numbers */
  const open = new Map()
  // Closes the page's collections, because the page is gone or one of its messages failed.
  const leave = (/** @type {Error} */ error) => {
    channel.end(error)
    for (const end of open.values()) end()
    open.clear()
  }
  const fail = (/** @type {unknown} */ error) => {
    const failure = crashed('the worker failed', error)
    channel.send({ type: 'broken', error: failureOf(failure) })
    leave(failure)
  }
  /** @type {PageChannel} */
  const channel = new Channel(port, {
    async hello({ protocol, lock: page }) {
      if (protocol !== PROTOCOL) throw protocolError(`version ${protocol} and version ${PROTOCOL}`)
      if (page) lifetimeEnd(page).then(() => leave(new ListWatchError('closed', 'listwatch: the page is gone')), fail)
      return (await lock).name
    },
    load: ({ wasm }) => load(wasm),
    // The page sends this message after `load`, but does not wait for the answer.
    async open({ collection, spec }) {
      const ends = host ? [] : [ahead.request(spec)], end = () => ends.forEach((each) => each())
      open.set(collection, end)
      if (!host) {
        await loading?.catch(end) // the page learns of the error from the answer to `load`
        if (!host || open.get(collection) !== end) return end()
        setTimeout(ends[0], 5000) // the module takes the request at once, unless it rejects the collection
      }
      ends.push(host.open(spec, client(channel, collection)))
    },
    close({ collection }) {
      open.get(collection)?.()
      open.delete(collection)
    },
    wake: () => host?.wake(),
  }, fail)
}

/** @param {PageChannel} channel @param {number} collection @returns {Member} */
const client = (channel, collection) => ({
  records(bytes) {
    const copy = bytes.slice() // because `bytes` may be in the module's memory, and other clients may receive them, too
    channel.send({ type: 'records', collection, bytes: copy }, [copy.buffer])
  },
  failed: (error) => channel.send({ type: 'failed', collection, error: failureOf(error) }),
  token: () => channel.call({ type: 'token', collection }),
  replay: () => channel.call({ type: 'replay', collection }, TIMEOUT),
})
