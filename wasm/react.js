'use client'
// Implements the React binding. react.d.ts is generated from this file.

/** @import { KubernetesObject, ListWatchOptions, Snapshot } from './types.js' */
/** @import { User } from './sharing.js' */

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { ListWatchError } from './index.js'
import { current, update, join } from './sharing.js'

/**
 * The options of a component's collection. There is no `signal`, because the collection is closed when no component uses it.
 * @typedef {Omit<ListWatchOptions, 'signal'>} UseListWatchOptions
 */

/**
 * Follows a collection while the component is mounted, and returns its current snapshot. With `null`, it opens no
 * collection.
 *
 * The snapshot is empty in the first render and on a server. `state.phase` and `state.cause` report the progress and
 * the errors. Invalid options throw a `ListWatchError`, which reaches the error boundary.
 *
 * Options are compared by value, so they can be written inline. Components with equal options share one collection. A
 * new token function in a later render replaces the previous one without a new connection. But components share a
 * collection only if they have the same token function, so define it outside of the components. A component that
 * switches to another user needs a new `key`.
 * @template [T=KubernetesObject]
 * @overload
 * @param {UseListWatchOptions | null | undefined} options
 * @returns {Snapshot<T>}
 */
/**
 * Returns `select(snapshot)`, and renders the component again only if the selection changes. `isEqual` compares
 * selections; the default is `Object.is`.
 * @template [T=KubernetesObject]
 * @template [S=unknown]
 * @overload
 * @param {UseListWatchOptions | null | undefined} options
 * @param {(snapshot: Snapshot<T>) => S} select
 * @param {(a: S, b: S) => boolean} [isEqual]
 * @returns {S}
 */
/**
 * @param {ListWatchOptions | null | undefined} options
 * @param {(snapshot: Snapshot<any>) => unknown} select
 * @param {(a: any, b: any) => boolean} isEqual
 */
export function useListWatch(options, select = whole, isEqual = Object.is) {
  if (options?.signal) throw new ListWatchError('invalid', 'listwatch: useListWatch takes no signal: unmount the component instead')
  const name = nameOf(options)
  const user = useMemo(() => /** @type {User} */ ({ name, options }), [name])
  const subscribe = useCallback((/** @type {() => void} */ notify) => join(user, notify), [user])
  /** @type {{ current: { selection: unknown } | undefined }} the selection that the last render showed */
  const selected = useRef(undefined)
  const getSelection = useMemo(() => selector(() => current(user) ?? EMPTY, select, isEqual, selected), [user, select, isEqual])
  const getServerSelection = useMemo(() => selector(() => EMPTY, select, isEqual, selected), [select, isEqual])
  useEffect(() => update(user, options)) // runs before the subscription, which may use the options
  const selection = useSyncExternalStore(subscribe, getSelection, getServerSelection)
  useEffect(() => { selected.current = { selection } })
  return selection
}

const whole = (/** @type {Snapshot<any>} */ snapshot) => snapshot

/**
 * Returns the options as a string, with sorted members. All functions become the same string.
 * @param {unknown} options
 */
const nameOf = (options) => JSON.stringify(options ?? null, (_, value) => {
  if (typeof value === 'function') return 'function'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
})

/**
 * Returns a function that selects from the current snapshot, once for each snapshot. If the selection equals the last one, it
 * returns the last one, so that React does not render.
 * @param {() => Snapshot<any>} getSnapshot
 * @param {(snapshot: Snapshot<any>) => unknown} select
 * @param {(a: any, b: any) => boolean} isEqual
 * @param {{ current: { selection: unknown } | undefined }} selected
 */
function selector(getSnapshot, select, isEqual, selected) {
  /** @type {Snapshot<any> | undefined} */
  let from
  /** @type {unknown} */
  let selection
  return () => {
    const snapshot = getSnapshot()
    if (snapshot === from) return selection
    const last = from ? { selection } : selected.current
    from = snapshot
    selection = select(snapshot)
    if (last && isEqual(last.selection, selection)) selection = last.selection
    return selection
  }
}

/** @type {readonly any[]} */
const NONE = Object.freeze([])
/** @type {Snapshot<any>} */
const EMPTY = Object.freeze({
  size: 0,
  state: Object.freeze({ phase: 'loading', resourceVersion: '', lastEventAt: 0, stale: true }),
  get: () => undefined,
  item: () => undefined,
  list: () => NONE,
  by: () => NONE,
})
