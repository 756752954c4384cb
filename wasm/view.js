// Combines the snapshots of collections into the result of the React hooks.

/** @import { ListWatchError } from './error.js' */
/** @import { Phase, Snapshot, State } from './types.js' */

/** @type {readonly any[]} */
const NONE = Object.freeze([])
/** The phases, from the best to the worst. @type {Phase[]} */
const PHASES = ['live', 'listing', 'loading', 'interrupted', 'stopped']
/** @type {State} */
const LOADING = Object.freeze({ phase: 'loading', resourceVersion: '', lastEventAt: 0, synced: false, stale: true })
/** The state of a view without collections. @type {State} */
const COMPLETE = Object.freeze({ ...LOADING, phase: 'live', synced: true, stale: false })

/** Returns a snapshot without objects. @param {Partial<State>} [change] @returns {Snapshot<any>} */
export const emptySnapshot = (change) => ({
  size: 0, state: Object.freeze({ ...LOADING, ...change }), get: () => undefined, item: () => undefined, list: () => NONE, by: () => NONE,
})

/** The result of a hook for one collection, or for one collection per namespace. See ListView in react.d.ts. */
export class View {
  #snapshots
  /** @type {readonly any[] | undefined} */
  #list

  /**
   * The keys of each snapshot must be greater than those of the previous one.
   * @param {Snapshot<any>[]} snapshots
   * @param {State} state
   * @param {Record<string, ListWatchError>} errors by namespace
   */
  constructor(snapshots, state, errors) {
    this.#snapshots = snapshots
    this.state = state
    this.errors = errors
    this.error = Object.values(errors)[0]
    this.loaded = state.synced
    this.stale = state.stale
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
  by(index, value) { return this.#join((snapshot) => snapshot.by(index, value)) }

  /** @param {(snapshot: Snapshot<any>) => readonly any[]} listOf */
  #join(listOf) {
    const lists = this.#snapshots.map(listOf)
    return lists.length === 1 ? lists[0] : Object.freeze(lists.flat())
  }

  /** Returns a view with the objects of another view, for the time until this one is loaded. @param {View} previous */
  withObjectsOf(previous) {
    return new View(previous.#snapshots, Object.freeze({ ...this.state, synced: true, stale: true }), this.errors)
  }
}

/**
 * Returns a view of the snapshots of these namespaces.
 * @param {Snapshot<any>[]} snapshots
 * @param {string[]} namespaces
 */
export function viewOf(snapshots, namespaces) {
  /** @type {Record<string, ListWatchError>} */
  const errors = {}
  snapshots.forEach(({ state: { cause } }, i) => {
    if (cause && cause.code !== 'turns') errors[namespaces[i]] = cause
  })
  return new View(snapshots, mergeStates(snapshots.map(({ state }) => state)), errors)
}

/**
 * Returns the worst state. It ignores collections that failed before their first list was complete, unless all failed.
 * @param {State[]} states
 */
function mergeStates(states) {
  if (states.length < 2) return states[0] ?? COMPLETE
  const working = states.filter(({ phase, synced }) => synced || phase !== 'stopped'), counted = working.length ? working : states
  const worst = counted.reduce((a, b) => (PHASES.indexOf(b.phase) > PHASES.indexOf(a.phase) ? b : a))
  return Object.freeze({ ...worst, synced: counted.every(({ synced }) => synced), stale: counted.some(({ stale }) => stale) })
}
