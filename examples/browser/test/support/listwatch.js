// Replaces the package listwatch in tests. A test sets the state of a collection and reports its changes.
import { ListWatchError } from '../../listwatch/error.js'

export { ListWatchError }

/** All opened collections, from oldest to newest. */
export const opened = []
/**
 * `wake` counts the calls of wake(). The next call of listWatch() throws the error `refuse`, unless it is undefined.
 */
export const calls = { wake: 0, refuse: undefined }
export const wake = () => { calls.wake++ }

export const live = (resourceVersion = '1', more = {}) => ({ phase: 'live', synced: true, resourceVersion, lastEventAt: Date.now(), ...more })

class Fake {
  state = { phase: 'waiting', synced: false, resourceVersion: '', lastEventAt: 0 }
  closed = false
  items = []
  #listeners = new Set()

  constructor(options) { this.options = options }
  get size() { return this.items.length }
  list() { return this.items }
  subscribe(listener) {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  close() { this.closed = true }

  /** Sets the state and reports changes to the subscribers. Returns the number of subscribers. */
  report(state, changes = []) {
    this.state = state
    for (const listener of this.#listeners) listener(changes)
    return this.#listeners.size
  }
}

export function listWatch(options) {
  if (calls.refuse) {
    const error = calls.refuse
    calls.refuse = undefined
    throw error
  }
  const made = new Fake(options)
  opened.push(made)
  return made
}

/** Returns a collection item for an object. */
export function item(object, resourceVersion = '1') {
  const { name, namespace = '' } = object.metadata
  return { key: namespace ? `${namespace}/${name}` : name, namespace, name, resourceVersion, object: { ...object, metadata: { ...object.metadata, resourceVersion } } }
}

export const added = (one, more) => ({ type: 'added', key: one.key, item: one, object: one.object, initial: false, missed: false, ...more })
export const modified = (one, old, more) => ({ ...added(one), type: 'modified', old: old.object, ...more })
export const deleted = (one, more) => ({ ...added(one), type: 'deleted', old: one.object, ...more })
