// The entry point of the package. index.d.ts is generated from this file and from types.d.ts.

/** @import { HookOptions, InitOptions, KubernetesObject, ListWatch, ListWatchOptions, Typed } from './types.js' */
/** @import { Link } from './connect.js' */

import { Collection } from './collection.js'
import { connect } from './connect.js'
import { ListWatchError } from './error.js'
import { specOf } from './spec.js'

export { ListWatchError }

/**
 * Returns the link to the fake cluster of listwatch/testing, if there is one. All copies of the package use this link.
 * @returns {Link | undefined}
 */
const fake = () => /** @type {any} */ (globalThis)[Symbol.for('listwatch/testing')]
/** @type {Promise<Link> | undefined} undefined before the first call and after a failure */
let connecting
/** @type {Promise<void> | undefined} */
let ready
/** @type {Link | undefined} undefined before `init` has succeeded and after a failure */
let link
/** @type {InitOptions} the options of the last call to `init` that was not ignored; `listWatch` uses them to load the module again after a failure */
let last = {}

/**
 * Loads the WASM module. Calling it is optional, because `listWatch` loads the module with the default options. Later
 * calls return the promise of the first call and ignore their options. After a failure, the next call tries again. Call
 * `listWatch` without waiting for the promise, because a worker requests lists while it loads the module.
 *
 * The promise rejects with a `ListWatchError` if the module or its worker does not load.
 * @param {InitOptions} [options]
 * @returns {Promise<void>}
 */
export function init(options = {}) {
  if (fake()) return Promise.resolve()
  if (connecting && ready) return ready
  last = options
  const current = connecting = connect(options, () => reset(current))
  ready = current.then(async (connected) => {
    await connected.loaded
    link = connected
  }).catch((error) => {
    reset(current) // the next call tries again
    throw error
  })
  return ready
}

/** @param {Promise<Link>} failed */
function reset(failed) {
  if (connecting === failed) connecting = link = undefined
}

/**
 * Lists a collection, and then follows its changes until the returned ListWatch is closed.
 *
 * It throws a `ListWatchError` with the code `"invalid"` if an option is invalid. Later errors, such as an unknown resource,
 * appear in `state.cause`. If they are final, they also reject `synced` and end the iteration.
 * @template [T=KubernetesObject]
 * @template {string} [I=string]
 * @param {ListWatchOptions<I> & Typed<T>} options
 * @returns {ListWatch<T, I>}
 */
export function listWatch(options) {
  const { spec, token } = specOf(options)
  return new Collection(spec, token, options, linked)
}

/**
 * Returns options with the type of their objects, for example
 * `const pods = listOptions<Pod>()({ resource: 'pods', indexes: { node: 'spec.nodeName' } })`. The type checker then
 * knows the object type and the index names in `listWatch(pods)` and `useListWatch(pods, (list) => list.size)`.
 * @template [T=KubernetesObject]
 * @returns {<I extends string = string>(options: ListWatchOptions<I> & HookOptions) => ListWatchOptions<I> & HookOptions & Typed<T>}
 */
export function listOptions() {
  return (options) => options
}

/** @returns {Promise<Link>} */
async function linked() {
  const substitute = fake()
  if (substitute) return substitute
  // eslint-disable-next-line no-restricted-syntax -- the collection reports the failure
  init(last).catch(() => {})
  return /** @type {Promise<Link>} */ (connecting)
}

/**
 * Deletes all collections that the option `persist` has saved for this origin, for example when a user signs out. Open
 * collections stay open, but are no longer saved. The promise resolves when the data is deleted.
 * @returns {Promise<void>}
 */
export async function deletePersisted() {
  if (!globalThis.indexedDB) return // nothing can be saved
  const deleting = indexedDB.deleteDatabase('listwatch')
  await new Promise((resolve, reject) => {
    deleting.onsuccess = resolve
    deleting.onerror = () => reject(new ListWatchError('storage', `listwatch: the saved collections could not be deleted: ${deleting.error?.message}`))
  })
}

/**
 * Checks all connections immediately, and skips the delays before the next attempts. Call it, for example, from a "try
 * now" button.
 *
 * It does not skip the delay after an error response, for which `state.cause.status` is set. A page that becomes visible
 * or comes online calls `wake` automatically.
 */
export function wake() {
  link?.wake()
}
