// Manages the collections that React components share.

/** @import { ListWatch, ListWatchOptions, Snapshot } from './types.js' */

import { ListWatchError, listWatch } from './index.js'
import { LOADING, emptyView } from './view.js'

/**
 * A collection that mounted components share, or that is kept open for a component that mounts soon.
 * @typedef {object} Shared
 * @property {string} name the options as a string
 * @property {ListWatchOptions['token']} token
 * @property {Set<User>} users
 * @property {ListWatch<any>} [collection] undefined if the options are invalid
 * @property {Snapshot<any>} snapshot
 * @property {ReturnType<typeof setTimeout>} [timer] closes the collection
 */
/**
 * A component's use of one collection. While the component is mounted, only its token and keepAlive options may change.
 * @typedef {object} User
 * @property {string} name the options as a string
 * @property {ListWatchOptions} options the options of the last render
 * @property {number} keepAlive in milliseconds
 * @property {Shared} [shared] set while the component is mounted
 * @property {() => void} [notify]
 */

/** @type {Set<Shared>} */
const opened = new Set()

/** Reports whether a collection has stopped and no component uses it. @param {Shared} shared */
const isOver = ({ users, snapshot }) => !users.size && snapshot.state.phase === 'stopped'

/** Returns the open collection that a component can join. @param {User} user */
const find = (user) => [...opened].find((shared) => shared.name === user.name && shared.token === user.options.token && !isOver(shared))

/** Returns the snapshot that the component shows, if its collection is open. @param {User} user */
export const current = (user) => (user.shared ?? find(user))?.snapshot

/**
 * Opens the collection of a component, or joins an equal one. It returns a function that leaves the collection.
 * @param {User} user
 * @param {() => void} notify
 */
export function join(user, notify) {
  user.notify = notify
  acquire(user)
  return () => release(user, user.keepAlive)
}

/** @param {User} user */
function acquire(user) {
  user.shared = find(user) ?? open(user.name, user.options)
  user.shared.users.add(user)
  clearTimeout(user.shared.timer)
}

/** @param {User} user @param {number} keepAlive */
function release(user, keepAlive) {
  const { shared } = user
  if (!shared) return
  delete user.shared
  shared.users.delete(user)
  if (shared.users.size) return
  // Even a delay of 0 needs a timer, because StrictMode unmounts a component and mounts it again immediately.
  shared.timer = setTimeout(() => {
    opened.delete(shared)
    shared.collection?.close()
  }, isOver(shared) ? 0 : keepAlive)
}

/** Sets the options of the current render. @param {User} user @param {Pick<User, 'options' | 'keepAlive'>} given */
export function update(user, { options, keepAlive }) {
  Object.assign(user, { options, keepAlive })
  const { shared } = user
  if (shared && shared.token !== options.token) queueMicrotask(() => reopen(shared)) // runs after the effects of all components
}

/**
 * Handles new token functions. If all users have new functions, the collection uses the first one. Otherwise, the users
 * with new functions move to another collection.
 * @param {Shared} shared
 */
function reopen(shared) {
  const users = [...shared.users], [first] = users
  if (first && users.every(({ options }) => options.token !== shared.token) && !find(first)) shared.token = first.options.token
  for (const user of users) {
    if (user.options.token === shared.token) continue
    release(user, 0)
    acquire(user)
    user.notify?.()
  }
}

/**
 * Opens a collection. If the options are invalid, its snapshot contains the error.
 * @param {string} name
 * @param {ListWatchOptions} options
 */
function open(name, options) {
  const { token } = options
  /** @type {Shared} */
  const shared = { name, token, users: new Set(), snapshot: LOADING }
  opened.add(shared)
  // Calls the token function of the last render, even if it is newer than the collection.
  const ask = () => typeof shared.token === 'function' ? shared.token() : shared.token ?? ''
  try {
    if (options.signal) throw new ListWatchError('invalid', 'listwatch: useListWatch does not accept a signal: unmount the component instead')
    const collection = shared.collection = listWatch(typeof token === 'function' ? { ...options, token: ask } : options)
    shared.snapshot = collection.getSnapshot()
    collection.subscribe(() => {
      // All components see the new snapshot at the same time, including those that mount between the change and this call.
      shared.snapshot = collection.getSnapshot()
      for (const { notify } of [...shared.users]) notify?.()
    })
  } catch (cause) {
    if (!(cause instanceof ListWatchError)) throw cause
    shared.snapshot = emptyView({ phase: 'stopped', since: Date.now(), cause })
  }
  return shared
}
