// Combines the snapshots of collections into the result of the React hooks.

/** @import { ListWatchError } from './error.js' */
/** @import { Item, Snapshot, State } from './types.js' */

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
   * @param {Record<string, ListWatchError>} errors by namespace
   */
  constructor(snapshots, state, errors = {}) {
    this.#snapshots = snapshots
    this.state = state
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

  /**
   * Returns a view of the same objects in the phase stale, with the other members of the state of the view that will
   * replace it.
   * @param {View} next
   */
  until({ state, errors }) {
    const view = new View(this.#snapshots, Object.freeze({ ...state, synced: true, phase: 'stale' }), errors)
    view.#previous = true
    return view
  }
}

/** Returns a view without objects. @param {Partial<State>} [change] */
export const emptyView = (change) =>
  new View([], Object.freeze({ phase: 'waiting', since: 0, resourceVersion: '', lastEventAt: 0, synced: false, ...change }))

export const LOADING = emptyView()
/** The view for an empty list of namespaces. */
const COMPLETE = emptyView({ phase: 'live', synced: true })

/**
 * Returns a view of the snapshots of these namespaces.
 * @param {Snapshot<any>[]} snapshots
 * @param {string[]} namespaces
 */
export function viewOf(snapshots, namespaces) {
  /** @type {Record<string, ListWatchError>} */
  const errors = {}
  const states = snapshots.map(({ state }, i) => {
    if (state.cause && state.cause.code !== 'turns') errors[namespaces[i]] = state.cause
    return state
  })
  return states.length ? new View(snapshots, mergeStates(states), errors) : COMPLETE
}

/**
 * Returns the first state that is not live, or the first state if all are live. It ignores collections that failed before
 * their first list was complete, unless all failed.
 * @param {State[]} states
 */
function mergeStates(states) {
  if (states.length === 1) return states[0]
  const working = states.filter(({ phase, synced }) => synced || phase !== 'stopped'), counted = working.length ? working : states
  const first = counted.find(({ phase }) => phase !== 'live') ?? counted[0]
  return Object.freeze({ ...first, synced: counted.every(({ synced }) => synced) })
}
