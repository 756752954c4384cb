// What a React application imports; react.d.ts says what it means.

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { ListWatchError, listWatch } from './index.js'

export function useListWatch(options, select = whole, isEqual = Object.is) {
  if (options?.signal) throw new ListWatchError('invalid', 'listwatch: useListWatch has no signal: the collection ends when the component does')
  const key = nameOf(options)
  const given = useRef(options)
  const subscribe = useCallback((notify) => join(key, given, notify), [key])
  const selected = useRef() // what was rendered last, once something was
  const getSelection = useMemo(() => selector(key, select, isEqual, selected), [key, select, isEqual])
  useEffect(() => { given.current = options }) // before the subscription, which may open what is given
  const selection = useSyncExternalStore(subscribe, getSelection, () => select(EMPTY))
  useEffect(() => { selected.current = { selection } })
  return selection
}

const whole = (snapshot) => snapshot

// Options as text: members in the order of their names, functions all the same.
const nameOf = (options) => JSON.stringify(options ?? null, (_, value) => {
  if (typeof value === 'function') return 'function'
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
})

// Selects once from each snapshot. What is equal to what was rendered last is given as that, so that nothing is rendered.
function selector(key, select, isEqual, selected) {
  let from, selection
  return () => {
    const snapshot = opened.get(key)?.snapshot ?? EMPTY
    if (snapshot === from) return selection
    const last = from ? { selection } : selected.current
    from = snapshot
    selection = select(snapshot)
    if (last && isEqual(last.selection, selection)) selection = last.selection
    return selection
  }
}

// The collections that mounted components show, each with its users: what notifies them, and their options.
const opened = new Map()

function join(key, given, notify) {
  if (given.current == null) return () => {}
  let shared = opened.get(key)
  if (!shared) opened.set(key, shared = open(given.current))
  shared.users.set(notify, given)
  return () => {
    shared.users.delete(notify)
    setTimeout(() => { // a component that is mounted again at once, as in StrictMode, finds it open
      if (shared.users.size || opened.get(key) !== shared) return
      opened.delete(key)
      shared.collection.close()
    })
  }
}

function open(options) {
  const users = new Map()
  const { token } = options
  const latest = () => [...users.values()].at(-1)?.current.token() ?? ''
  const collection = listWatch(typeof token === 'function' ? { ...options, token: latest } : options)
  const shared = { users, collection, snapshot: collection.getSnapshot() }
  collection.subscribe(() => {
    // Not before all are told of it: who is mounted in between shows what the others show.
    shared.snapshot = collection.getSnapshot()
    for (const notify of [...users.keys()]) notify()
  })
  return shared
}

const NONE = Object.freeze([])
const EMPTY = Object.freeze({
  size: 0,
  state: Object.freeze({ phase: 'loading', resourceVersion: '', lastEventAt: 0, stale: true }),
  get() {},
  item() {},
  list: () => NONE,
  by: () => NONE,
})
