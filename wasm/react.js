'use client'
// Implements the React binding. react.d.ts is generated from this file and from hooks.d.ts.

/** @import { KubernetesObject, Typed } from './types.js' */
/** @import { ListView, MissingIndexes, MissingType, ObjectView, UseListWatchOptions } from './hooks.js' */
/** @import { Options, View } from './lists.js' */

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { Lists } from './lists.js'

/**
 * Follows a collection while the component is mounted, and returns its current objects and state. With `null`, it opens
 * no collection.
 *
 * The list is empty in the first render and on a server. The hook does not throw: `error` contains every failure, even
 * an invalid option.
 *
 * Options are compared by value, so they can be written inline. Components with equal options share one collection. A
 * new token function in a later render replaces the previous one without a new connection. However, components share a
 * collection only if they have the same token function, so define it outside of the components. A component that
 * switches to another user needs a new `key`.
 *
 * A collection that has failed tries again when `retry` is called, when the token function returns another token in a later
 * render, and when a component mounts, at most once per second.
 *
 * TypeScript infers the names of inline `indexes` only if the call has no type arguments. To set the object type and
 * infer the names, use `listOptions`.
 * @template [T=KubernetesObject]
 * @template {string} [I=MissingIndexes]
 * @overload
 * @param {UseListWatchOptions<I> & Typed<T> | null | undefined} options
 * @returns {ListView<T, I>}
 */
/**
 * Returns `select(list)`, and renders the component again only if the selection changes. `isEqual` compares
 * selections; the default is `Object.is`.
 * @template [T=KubernetesObject]
 * @template [S=MissingType]
 * @template {string} [I=string]
 * @overload
 * @param {UseListWatchOptions<I> & Typed<T> | null | undefined} options
 * @param {(list: ListView<T, I>) => S} select
 * @param {(a: S, b: S) => boolean} [isEqual]
 * @returns {S}
 */
/**
 * @param {UseListWatchOptions | null | undefined} options
 * @param {(list: ListView<any, any>) => unknown} select
 * @param {(a: any, b: any) => boolean} isEqual
 */
export function useListWatch(options, select = whole, isEqual = Object.is) {
  return useLists({ list: options }, onlyList, select, isEqual)
}

/**
 * Follows several collections, for example `useListWatches({ pods: { resource: 'pods' }, nodes: { resource: 'nodes' } })`.
 * The result has the same keys. The keys may change between renders.
 * @template {Record<string, UseListWatchOptions<any> | null | undefined>} O
 * @overload
 * @param {O} options
 * @returns {{ [K in keyof O]: NonNullable<O[K]> extends UseListWatchOptions<infer I> & Typed<infer T> ? ListView<unknown extends T ? KubernetesObject : T, I> : never }}
 */
/**
 * @template {object} M
 * @overload
 * @param {{ [K in keyof M]: UseListWatchOptions | null | undefined }} options
 * @returns {{ [K in keyof M]: ListView<M[K]> }}
 */
/**
 * @param {Options} options
 */
export function useListWatches(options) {
  return useLists(options, whole, whole, Object.is)
}

/**
 * Follows the object with the given `name`.
 * @template [T=KubernetesObject]
 * @param {UseListWatchOptions & { name: string } & Typed<T> | null | undefined} options
 * @returns {ObjectView<T>}
 */
export function useObject(options) {
  return useLists({ list: options && { ...options, name: options.name ?? '' } }, onlyList, objectOf, haveEqualMembers) // an empty name is invalid
}

const whole = (/** @type {any} */ all) => all
const onlyList = (/** @type {Record<string, View>} */ { list }) => list
/** @param {View} list */
const objectOf = ({ items, loaded, error, retry, state: { phase } }) => ({ object: items[0]?.object, loaded, error, phase, retry })
/** @param {Record<string, unknown>} a @param {Record<string, unknown>} b */
const haveEqualMembers = (a, b) => Object.keys(a).every((name) => Object.is(a[name], b[name]))

/**
 * @template V, S
 * @param {Options} options
 * @param {(views: Record<string, View>) => V} pick returns the part of the views that `select` receives
 * @param {(picked: V) => S} select
 * @param {(a: any, b: any) => boolean} isEqual
 * @returns {S}
 */
function useLists(options, pick, select, isEqual) {
  const given = new Lists(options)
  /** @type {{ current: { lists: Lists, selection: any } | undefined }} the lists and the selection that the last render showed */
  const shown = useRef(undefined)
  const lists = useMemo(() => given.after(shown.current?.lists), [given.name])
  const subscribe = useCallback((/** @type {() => void} */ notify) => lists.join(notify), [lists])
  const getSelection = useMemo(() => selector(() => pick(lists.views()), select, isEqual, shown), [lists, select, isEqual])
  const getServerSelection = useMemo(() => selector(() => pick(lists.empty), select, isEqual, shown), [lists, select, isEqual])
  useEffect(() => lists.update(given)) // runs before the subscription, which may use the options
  const selection = useSyncExternalStore(subscribe, getSelection, getServerSelection)
  useEffect(() => { shown.current = { lists, selection } })
  return selection
}

/**
 * Returns a function that calls `select` once for each new value of `get` and returns the selection. An equal selection
 * is replaced by the previous one, so that React does not render again.
 * @template V, S
 * @param {() => V} get
 * @param {(value: V) => S} select
 * @param {(a: any, b: any) => boolean} isEqual
 * @param {{ current: { selection: S } | undefined }} shown
 */
function selector(get, select, isEqual, shown) {
  /** @type {{ value: V, selection: S } | undefined} */
  let last
  return () => {
    const value = get()
    if (last && value === last.value) return last.selection
    const before = last ?? shown.current
    const selected = select(value)
    last = { value, selection: before && isEqual(before.selection, selected) ? before.selection : selected }
    return last.selection
  }
}
