// Connects one component to the collections that it shows.

/** @import { ListWatchOptions } from './types.js' */
/** @import { UseListWatchOptions } from './hooks.js' */
/** @import { User } from './sharing.js' */
/** @import { View } from './view.js' */

import { current, join, update } from './sharing.js'
import { LOADING, viewOf } from './view.js'

/** The default of the option keepAlive, in milliseconds. */
const KEEP_ALIVE = 5000

/** @typedef {Record<string, UseListWatchOptions | null | undefined>} Options the options of a component's lists, by key */
/**
 * @typedef {object} List
 * @property {string} key
 * @property {User[] | undefined} users one for each collection; undefined if the options are null
 * @property {boolean | undefined} keepPrevious
 * @property {View | undefined} [previous] the view to show until this list is loaded
 * @property {View} [view]
 * @property {unknown[]} [snapshots] the snapshots that the view combines
 */

/** @param {Options} options @returns {List[]} */
export const listsOf = (options) =>
  Object.entries(options ?? {}).map(([key, given]) => ({ key, users: given ? usersOf(given) : undefined, keepPrevious: given?.keepPrevious }))

/** Returns a string that identifies the options of the lists. @param {List[]} lists */
export const nameOfLists = (lists) => JSON.stringify(lists.map(({ key, users }) => [key, users?.map(({ name }) => name)]))

/** The lists of one component. If their options change, the component creates a new Lists. */
export class Lists {
  #lists
  /** @type {Record<string, View> | undefined} */
  #views

  /** @param {List[]} lists @param {Lists} [previous] the lists of the last render */
  constructor(lists, previous) {
    this.#lists = lists
    for (const list of lists) {
      if (list.keepPrevious) list.previous = previous?.views()[list.key]
    }
    /** Empty views by key, for the first render. */
    this.empty = Object.fromEntries(lists.map(({ key }) => [key, LOADING]))
  }

  /** Returns the current views by key. The result is the same value until a view changes. */
  views() {
    const changed = this.#lists.filter(refresh)
    if (!this.#views || changed.length) this.#views = Object.fromEntries(this.#lists.map(({ key, view = LOADING }) => [key, view]))
    return this.#views
  }

  /** Opens or joins the collections, and returns a function that leaves them. @param {() => void} notify */
  join(notify) {
    const leave = this.#lists.flatMap(({ users = [] }) => users.map((user) => join(user, notify)))
    return () => leave.forEach((f) => f())
  }

  /** Sets the options of the current render. @param {List[]} lists */
  update(lists) {
    this.#lists.forEach(({ users }, i) => users?.forEach((user, j) => update(user, /** @type {User[]} */ (lists[i].users)[j])))
  }
}

/** Updates the view of a list, and reports whether it changed. @param {List} list */
function refresh(list) {
  const { users, previous } = list
  const snapshots = users?.map((user) => current(user) ?? LOADING) ?? [LOADING]
  if (list.snapshots && snapshots.every((snapshot, i) => snapshot === list.snapshots?.[i])) return false
  list.snapshots = snapshots
  const view = list.view = viewOf(snapshots, users?.map(({ options }) => options.namespace ?? '') ?? [])
  if (previous?.loaded && !view.loaded && !view.error) list.view = previous.until(view)
  else delete list.previous
  return true
}

/**
 * Returns a `User`, or one for each namespace. The namespaces are sorted like the keys of their objects.
 * @param {UseListWatchOptions} given
 * @returns {User[]}
 */
function usersOf({ keepAlive = KEEP_ALIVE, keepPrevious, namespaces, ...rest }) {
  const all = Array.isArray(namespaces) && !namespaces.includes('') ? [...new Set(namespaces)].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1)).map((namespace) => ({ ...rest, namespace }))
    : [{ ...rest, ...(namespaces && { namespaces }) }] // listWatch rejects the option
  return all.map((options) => ({ name: nameOf(options), options: /** @type {ListWatchOptions} */ (options), keepAlive }))
}

/**
 * Returns the options as a string, with sorted members. All functions become the same string.
 * @param {unknown} options
 */
const nameOf = (options) => JSON.stringify(options, (_, value) => {
  if (typeof value === 'function') return 'function'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
})
