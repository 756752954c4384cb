// Manages the collections that React components share.

/** @import { ListWatch, ListWatchOptions, Snapshot } from './types.js' */
/** @import { UseListWatchOptions } from './react.js' */

import { listWatch } from './index.js'

/**
 * A collection that mounted components use.
 * @typedef {object} Shared
 * @property {string} name the options as a string
 * @property {ListWatchOptions['token']} token
 * @property {Set<User>} users
 * @property {ListWatch<any>} collection
 * @property {Snapshot<any>} snapshot
 */
/**
 * A component. While it is mounted, only its token option may change.
 * @typedef {object} User
 * @property {string} name the options as a string
 * @property {UseListWatchOptions | null | undefined} options the options of the last render
 * @property {Shared} [shared] set while the component is mounted
 * @property {() => void} [notify]
 */

/** @type {Set<Shared>} */
const opened = new Set()

/** @param {User} user */
const find = (user) => [...opened].find(({ name, token }) => name === user.name && token === user.options?.token)

/** Returns the snapshot that the component shows, if its collection is open. @param {User} user */
export const current = (user) => (user.shared ?? find(user))?.snapshot

/**
 * Opens the collection of a component, or joins an equal one. It returns a function that leaves the collection.
 * @param {User} user
 * @param {() => void} notify
 */
export function join(user, notify) {
  if (!user.options) return () => {}
  user.notify = notify
  acquire(user, user.options)
  return () => release(user)
}

/** @param {User} user @param {UseListWatchOptions} options */
function acquire(user, options) {
  user.shared = find(user) ?? open(user.name, options)
  user.shared.users.add(user)
}

/** @param {User} user */
function release(user) {
  const { shared } = user
  if (!shared) return
  delete user.shared
  shared.users.delete(user)
  setTimeout(() => { // StrictMode unmounts a component and mounts it again immediately
    if (shared.users.size) return
    opened.delete(shared)
    shared.collection.close()
  })
}

/** Sets the options of the current render. @param {User} user @param {User['options']} options */
export function update(user, options) {
  user.options = options
  const { shared } = user
  if (shared && shared.token !== options?.token) queueMicrotask(() => reopen(shared)) // runs after the effects of all components
}

/**
 * Handles new token functions. If all users have new functions, the collection uses the first one. Otherwise, the users
 * with another function move to another collection.
 * @param {Shared} shared
 */
function reopen(shared) {
  const users = [...shared.users], [first] = users
  if (first && users.every(({ options }) => options?.token !== shared.token) && !find(first)) shared.token = first.options?.token
  for (const user of users) {
    if (!user.options || user.options.token === shared.token) continue
    release(user)
    acquire(user, user.options)
    user.notify?.()
  }
}

/** @param {string} name @param {UseListWatchOptions} options */
function open(name, options) {
  const { token } = options
  // Calls the token function of the last render, even if it is newer than the collection.
  const ask = () => typeof shared.token === 'function' ? shared.token() : shared.token ?? ''
  const collection = listWatch(typeof token === 'function' ? { ...options, token: ask } : options)
  /** @type {Shared} */
  const shared = { name, token, users: new Set(), collection, snapshot: collection.getSnapshot() }
  opened.add(shared)
  collection.subscribe(() => {
    // All components see the new snapshot at the same time, including those that mount between the change and this call.
    shared.snapshot = collection.getSnapshot()
    for (const { notify } of [...shared.users]) notify?.()
  })
  return shared
}
