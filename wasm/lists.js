// Connects one component to the collections that it shows.

/** @import { ListWatchOptions } from './types.js' */
/** @import { UseListWatchOptions } from './hooks.js' */
/** @import { User } from './sharing.js' */
/** @import { View } from './view.js' */

import { current, join, update } from './sharing.js'
import { emptySnapshot, viewOf } from './view.js'

/** The default of the option keepAlive, in milliseconds. */
const KEEP_ALIVE = 5000

/** @typedef {Record<string, UseListWatchOptions | null | undefined>} Options the options of a component's lists, by key */
/**
 * @typedef {object} List
 * @property {string} key
 * @property {User[]} users one for each collection
 * @property {boolean} enabled whether the options are not null
 * @property {View | undefined} previous the view whose objects are shown until this list is loaded
 * @property {View} [view]
 * @property {unknown[]} [snapshots] the snapshots of the view
 */

const LOADING = emptySnapshot()
const EMPTY = viewOf([LOADING], [''])

/** The lists of one component. Options with another name need another instance. */
export class Lists {
  /** @type {List[]} */
  #lists
  /** @type {Record<string, View>} */
  #views = {}
  /** The views without objects, by key. */
  empty

  /** @param {Options} all @param {Lists} [previous] the lists of the last render */
  constructor(all, previous) {
    this.#lists = Object.entries(all).map(([key, options]) => ({
      key, users: requestsOf(options), enabled: !!options, previous: options?.keepPrevious ? previous?.views()[key] : undefined,
    }))
    this.empty = Object.fromEntries(Object.keys(all).map((key) => [key, EMPTY]))
  }

  /** Returns the current views by key. The result is the same value until a view changes. */
  views() {
    const before = this.#lists.map(({ view }) => view)
    for (const list of this.#lists) refresh(list)
    if (this.#lists.some(({ view }, i) => view !== before[i])) {
      this.#views = Object.fromEntries(this.#lists.map(({ key, view = EMPTY }) => [key, view]))
    }
    return this.#views
  }

  /** Opens or joins the collections, and returns a function that leaves them. @param {() => void} notify */
  join(notify) {
    const leave = this.#lists.flatMap(({ users }) => users.map((user) => join(user, notify)))
    return () => leave.forEach((f) => f())
  }

  /** Sets the options of the current render. @param {Options} all */
  update(all) {
    for (const { key, users } of this.#lists) {
      const requests = requestsOf(all[key])
      users.forEach((user, i) => update(user, requests[i]))
    }
  }
}

/** Updates the view of a list if a snapshot has changed. @param {List} list */
function refresh(list) {
  const { users, enabled, previous } = list
  const snapshots = enabled ? users.map((user) => current(user) ?? LOADING) : [LOADING]
  if (list.view && snapshots.every((snapshot, i) => snapshot === list.snapshots?.[i])) return
  list.snapshots = snapshots
  const view = viewOf(snapshots, enabled ? users.map(({ options }) => options.namespace ?? '') : [''])
  list.view = previous?.loaded && !view.loaded && !view.error ? view.withObjectsOf(previous) : view
  if (list.view === view) list.previous = undefined
}

/**
 * Returns the options of each collection: one, or one for each namespace, in the order of the objects' keys.
 * @param {UseListWatchOptions | null | undefined} given
 * @returns {User[]}
 */
function requestsOf(given) {
  if (!given) return []
  const { keepAlive = KEEP_ALIVE, keepPrevious, namespaces, ...rest } = given
  const all = Array.isArray(namespaces) ? [...new Set(namespaces)].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1)).map((namespace) => ({ ...rest, namespace }))
    : [namespaces === undefined ? rest : { ...rest, namespaces }] // listWatch rejects the wrong type
  return all.map((options) => ({ name: nameOf(options), options: /** @type {ListWatchOptions} */ (options), keepAlive }))
}

/** Returns the names of the options of all lists. @param {Options} all */
export const namesOf = (all) => JSON.stringify(Object.entries(all).map(([key, options]) => [key, options && requestsOf(options).map(({ name }) => name)]))

/**
 * Returns the options as a string, with sorted members. All functions become the same string.
 * @param {unknown} options
 */
const nameOf = (options) => JSON.stringify(options, (_, value) => {
  if (typeof value === 'function') return 'function'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
})
