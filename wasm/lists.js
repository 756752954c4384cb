// The lists that React components show. Components with equal options share a collection. A view combines the snapshots
// of the collections of a list.

/** @import { ListWatchError as Failure } from './error.js' */
/** @import { Item, ListWatch, ListWatchOptions, Snapshot, State } from './types.js' */
/** @import { UseListWatchOptions } from './hooks.js' */

import { ListWatchError, listWatch } from './index.js'
import { isDuration } from './spec.js'

const KEEP_ALIVE = 5000 // in ms; the default of the option keepAlive
const RETRY_INTERVAL = 1000 // in ms; the shortest time after which a component that mounts retries a failed collection

/** @typedef {Record<string, UseListWatchOptions | null | undefined>} Options the options of a component's lists, by key */

/** The result of a hook for one collection, or for one collection per namespace. See ListView in react.d.ts. */
export class View {
  #snapshots
  #previous = false // whether the component has switched to other options, whose list is not loaded yet
  /** @type {readonly Item<any>[] | undefined} */
  #list

  /**
   * The keys of each snapshot must be greater than the keys of the previous snapshot.
   * @param {Snapshot<any>[]} snapshots
   * @param {State} state
   * @param {() => void} [retry]
   * @param {Record<string, Failure>} [errors] by namespace
   */
  constructor(snapshots, state, retry = () => {}, errors = {}) {
    this.#snapshots = snapshots
    this.state = state
    this.retry = retry
    this.errors = errors
    this.error = Object.values(errors)[0]
    this.loaded = state.synced
    Object.freeze(this)
  }

  get size() { return this.#snapshots.reduce((n, { size }) => n + size, 0) }
  get items() { return this.list() }

  /** @param {string} key */
  get(key) { return this.item(key)?.object }

  /** @param {string} key */
  item(key) {
    for (const snapshot of this.#snapshots) {
      const item = snapshot.item(key)
      if (item) return item
    }
  }

  list() { return this.#list ??= this.#join((snapshot) => snapshot.list()) }

  /** @param {string} index @param {string} value */
  by(index, value) {
    try {
      return this.#join((snapshot) => snapshot.by(index, value))
    } catch (error) {
      if (this.#previous) return Object.freeze([]) // the previous options may lack the index
      throw error
    }
  }

  /** @param {(snapshot: Snapshot<any>) => readonly Item<any>[]} listOf */
  #join(listOf) {
    const lists = this.#snapshots.map(listOf)
    return lists.length === 1 ? lists[0] : Object.freeze(lists.flat())
  }

  /** Returns a view of the same objects in the phase stale, with the other members of the next view. @param {View} next */
  until({ state, retry, errors }) {
    const view = new View(this.#snapshots, Object.freeze({ ...state, synced: true, phase: 'stale' }), retry, errors)
    view.#previous = true
    return view
  }
}

/** The state before the first snapshot. @type {State} */
const NOTHING = Object.freeze({ phase: 'waiting', since: 0, resourceVersion: '', lastEventAt: 0, synced: false })
/** The state of an empty list of namespaces. @type {State} */
const COMPLETE = Object.freeze({ ...NOTHING, phase: 'live', synced: true })
const LOADING = new View([], NOTHING)

/**
 * Returns the first state that is not live, or else the first state, preferably of a watch that takes turns. It ignores
 * collections that failed before their first list was complete, unless all failed.
 * @param {Snapshot<any>[]} snapshots
 */
function mergeStates(snapshots) {
  const states = snapshots.map(({ state }) => state)
  if (states.length < 2) return states[0] ?? COMPLETE
  const working = states.filter(({ phase, synced }) => synced || phase !== 'stopped'), counted = working.length ? working : states
  const first = counted.find(({ phase }) => phase !== 'live') ?? counted.find(({ cause }) => cause) ?? counted[0]
  return Object.freeze({ ...first, synced: counted.every(({ synced }) => synced) })
}

/** @type {Set<Shared>} */
const opened = new Set()

/** Returns the open collection that a component can join, but no unused stopped one, whose error may be out of date. @param {Part} part */
const find = ({ name, options: { token } }) => [...opened].find((shared) => shared.name === name && shared.token === token && (shared.lists.size || !shared.isStopped))

/** A collection that mounted components share, or that is kept open for a component that mounts soon. */
class Shared {
  /** @type {Set<List>} the lists of mounted components that contain the collection */
  lists = new Set()
  /** The snapshot that all components show, even if the collection is newer. @type {Snapshot<any>} */
  snapshot = LOADING
  /** @type {ListWatch<any> | undefined} undefined if the options are invalid */
  collection
  /** @type {ReturnType<typeof setTimeout> | undefined} closes the collection */
  #timer
  #lastToken = '' // the last token that the collection has used

  /** Opens a collection. If the options are invalid, its snapshot contains the error. @param {Part} part */
  constructor({ name, options }) {
    this.name = name
    this.token = options.token
    opened.add(this)
    try {
      if (options.signal) throw new ListWatchError('invalid', 'listwatch: useListWatch does not accept a signal: unmount the component instead')
      const collection = this.collection = listWatch(typeof options.token === 'function' ? { ...options, token: () => this.#askToken() } : options)
      this.snapshot = collection.getSnapshot()
      collection.subscribe(() => {
        this.snapshot = collection.getSnapshot()
        for (const list of [...this.lists]) list.changed()
      })
    } catch (cause) {
      if (!(cause instanceof ListWatchError)) throw cause
      this.snapshot = new View([], Object.freeze({ ...NOTHING, phase: 'stopped', since: Date.now(), cause }))
    }
  }

  /** Calls the token function of the last render, even if it is newer than the collection. */
  async #askToken() {
    return this.#lastToken = typeof this.token === 'function' ? await this.token() : ''
  }

  get isStopped() { return this.snapshot.state.phase === 'stopped' }

  /** Retries a stopped collection if its token function returns a token other than the last one, or throws an error. */
  retryWithNewToken() {
    if (!this.isStopped || typeof this.token !== 'function') return
    const last = this.#lastToken, compare = (/** @type {unknown} */ answer) => answer !== last && this.collection?.retry()
    this.#askToken().then(compare, compare)
  }

  /** @param {List} list */
  add(list) {
    clearTimeout(this.#timer)
    this.lists.add(list)
    if (this.isStopped && Date.now() - this.snapshot.state.since >= RETRY_INTERVAL) this.collection?.retry() // for example, because a component with a new React key mounts
  }

  /** @param {List} list @param {number} keepAlive */
  delete(list, keepAlive) {
    this.lists.delete(list)
    if (this.lists.size) return
    // Even a delay of 0 needs a timer, because StrictMode unmounts a component and mounts it again immediately.
    this.#timer = setTimeout(() => {
      opened.delete(this)
      this.collection?.close()
    }, this.isStopped ? 0 : keepAlive)
  }

  /**
   * Handles new token functions. If all lists have new functions, this collection uses the first one, unless the lists can
   * join an open collection with this function. Then each list whose function differs moves to another collection.
   */
  changeToken() {
    const lists = [...this.lists], [token] = lists.map(({ given }) => given?.token)
    if (lists.length && lists.every(({ given }) => given?.token !== this.token) && !find({ name: this.name, options: { token } })) {
      this.token = token
      this.retryWithNewToken()
    }
    for (const list of lists) {
      if (list.given?.token !== this.token) list.move()
    }
  }
}

/** @typedef {{ name: string, options: ListWatchOptions, shared?: Shared | undefined }} Part a collection of a list; `shared` is set while the component is mounted */

/** One list of a component. While the component is mounted, only options that are not part of a Part's name can change. */
class List {
  view = LOADING
  /** @type {View | undefined} the view to show until this list is loaded */
  previous
  /** @type {Snapshot<any>[] | undefined} the snapshots that `view` combines */
  #shown
  #notify = () => {}
  /** @type {ReturnType<typeof setTimeout> | undefined} set while the option throttle delays notifications */
  #pause
  #due = false // whether a notification is delayed
  #phase = '' // the phase at the last notification

  /** @param {UseListWatchOptions | null | undefined} given */
  constructor(given) {
    this.given = given
    this.parts = given && partsOf(given)
    this.retry = () => this.parts?.forEach(({ shared }) => shared?.collection?.retry())
  }

  /** @param {() => void} notify */
  join(notify) {
    this.#notify = notify
    for (const part of this.parts ?? []) {
      part.shared = find(part) ?? new Shared(part)
      part.shared.add(this)
    }
  }

  leave(keepAlive = this.given?.keepAlive ?? KEEP_ALIVE) {
    clearTimeout(this.#pause)
    this.#pause = undefined
    for (const part of this.parts ?? []) {
      part.shared?.delete(this, keepAlive)
      part.shared = undefined
    }
  }

  /** Changes to the collections for the current token function. */
  move() {
    this.leave(0)
    this.join(this.#notify)
    this.#notify()
  }

  /** Sets the options of the current render. @param {List} next */
  update({ given, parts }) {
    this.given = given
    this.parts?.forEach((part, i) => {
      const { shared } = part
      part.options = /** @type {Part[]} */ (parts)[i].options
      if (shared?.token === part.options.token) shared?.retryWithNewToken()
      else queueMicrotask(() => shared?.changeToken()) // runs after the effects of all components
    })
  }

  /** Renders the component, or delays this as the option throttle says. A change of the phase is never delayed. */
  changed() {
    const { phase } = mergeStates(this.#snapshots()), throttle = this.given?.throttle
    this.#due = !!this.#pause && phase === this.#phase
    if (this.#due) return
    clearTimeout(this.#pause)
    this.#phase = phase
    this.#pause = throttle ? setTimeout(() => {
      this.#pause = undefined
      if (this.#due) this.changed()
    }, throttle) : undefined
    this.#notify()
  }

  #snapshots() {
    return this.parts?.map((part) => (part.shared ?? find(part))?.snapshot ?? LOADING) ?? [LOADING]
  }

  /** Updates the view, and reports whether it changed. */
  refresh() {
    const snapshots = this.#snapshots()
    if (this.#shown && snapshots.every((snapshot, i) => snapshot === this.#shown?.[i])) return false
    this.#shown = snapshots
    /** @type {Record<string, Failure>} */
    const errors = {}
    snapshots.forEach(({ state: { cause } }, i) => {
      if (cause && cause.code !== 'turns') errors[this.parts?.[i].options.namespace ?? ''] = cause
    })
    const view = this.view = new View(snapshots, mergeStates(snapshots), this.retry, errors)
    if (this.previous?.loaded && !view.loaded && !view.error) this.view = this.previous.until(view)
    else this.previous = undefined
    return true
  }
}

/** The lists of one component. If their options change, the component creates a new Lists. */
export class Lists {
  /** @type {[key: string, list: List][]} */
  #lists
  /** @type {Record<string, View> | undefined} */
  #views

  /** @param {Options} options */
  constructor(options) {
    this.#lists = Object.entries(options ?? {}).map(([key, given]) => [key, new List(given)])
    /** A string that identifies the options. */
    this.name = JSON.stringify(this.#lists.map(([key, { parts }]) => [key, parts?.map(({ name }) => name)]))
    /** Empty views by key, for the first render. */
    this.empty = Object.fromEntries(this.#lists.map(([key]) => [key, LOADING]))
  }

  /** Sets the lists of the last render, whose views may stay visible. @param {Lists} [previous] */
  after(previous) {
    for (const [key, list] of this.#lists) {
      if (list.given?.keepPrevious) list.previous = previous?.views()[key]
    }
    return this
  }

  /** Returns the current views by key. The result is the same value until a view changes. */
  views() {
    const changed = this.#lists.filter(([, list]) => list.refresh())
    if (!this.#views || changed.length) this.#views = Object.fromEntries(this.#lists.map(([key, { view }]) => [key, view]))
    return this.#views
  }

  /** Opens or joins the collections, and returns a function that leaves them. @param {() => void} notify */
  join(notify) {
    for (const [, list] of this.#lists) list.join(notify)
    return () => this.#lists.forEach(([, list]) => list.leave())
  }

  /** Sets the options of the current render. @param {Lists} next */
  update(next) {
    this.#lists.forEach(([, list], i) => list.update(next.#lists[i][1]))
  }
}

// Returns the parts of a list: one, or one for each namespace. They are sorted like the keys of their objects, in which "/"
// follows the namespace, so that a view can join their lists.
/** @param {UseListWatchOptions} given @returns {Part[]} */
function partsOf({ keepAlive, keepPrevious, throttle, namespaces, ...rest }) {
  const isValid = [keepAlive, throttle].every((ms) => ms === undefined || isDuration(ms))
  const options = isValid ? rest : { ...rest, keepAlive, throttle } // listWatch rejects them
  const all = Array.isArray(namespaces) && !namespaces.includes('') ? [...new Set(namespaces)].sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1)).map((namespace) => ({ ...options, namespace }))
    : [{ ...options, ...(namespaces && { namespaces }) }] // listWatch rejects `namespaces`
  return all.map((each) => ({ name: nameOf(each), options: /** @type {ListWatchOptions} */ (each) }))
}

// Returns the options as a string, with sorted members, so that equal options share a collection. All functions become the same
// string, because an inline function is a new one in each render.
/** @param {unknown} options */
const nameOf = (options) => JSON.stringify(options, (_, value) => {
  if (typeof value === 'function') return 'function'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
})
