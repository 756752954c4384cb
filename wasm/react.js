// What a React application imports; react.d.ts says what it means.

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { ListWatchError, listWatch } from './index.js'

export function useListWatch(options, select = whole, isEqual = Object.is) {
  if (options?.signal) throw new ListWatchError('invalid', 'listwatch: useListWatch has no signal: the collection ends when the component does')
  const name = nameOf(options)
  const user = useMemo(() => ({ name, options }), [name]) // the component, as join has it
  const subscribe = useCallback((notify) => join(user, notify), [user])
  const selected = useRef() // what was rendered last, once something was
  const getSelection = useMemo(() => selector(user, select, isEqual, selected), [user, select, isEqual])
  useEffect(() => give(user, options)) // before the subscription, which may open what is given
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
function selector(user, select, isEqual, selected) {
  let from, selection
  return () => {
    const snapshot = (user.shared ?? find(user))?.snapshot ?? EMPTY
    if (snapshot === from) return selection
    const last = from ? { selection } : selected.current
    from = snapshot
    selection = select(snapshot)
    if (last && isEqual(last.selection, selection)) selection = last.selection
    return selection
  }
}

// The collections that mounted components show: each with their options as text, the function for the token, and its users,
// which have what they were given last, and what notifies them.
const opened = new Set()

const find = (user) => [...opened].find(({ name, token }) => name === user.name && token === user.options?.token)

function join(user, notify) {
  if (user.options == null) return () => {}
  user.notify = notify
  enter(user)
  return () => leave(user)
}

function enter(user) {
  user.shared = find(user) ?? open(user)
  user.shared.users.add(user)
}

function leave(user) {
  const { shared } = user
  user.shared = undefined
  shared.users.delete(user)
  setTimeout(() => { // a component that is mounted again at once, as in StrictMode, finds it open
    if (shared.users.size) return
    opened.delete(shared)
    shared.collection.close()
  })
}

function give(user, options) {
  user.options = options
  const { shared } = user
  if (shared && shared.token !== options.token) queueMicrotask(() => settle(shared)) // when all components were given theirs
}

// A function takes the place of the one that all users have left; else they part.
function settle(shared) {
  const users = [...shared.users]
  if (users.length && users.every(({ options }) => options.token !== shared.token) && !find(users[0])) shared.token = users[0].options.token
  for (const user of users) {
    if (user.options.token === shared.token) continue
    leave(user)
    enter(user)
    user.notify()
  }
}

function open({ name, options }) {
  const { token } = options
  const collection = listWatch(typeof token === 'function' ? { ...options, token: () => shared.token() } : options)
  const shared = { name, token, users: new Set(), collection, snapshot: collection.getSnapshot() }
  opened.add(shared)
  collection.subscribe(() => {
    // Not before all are told of it: who is mounted in between shows what the others show.
    shared.snapshot = collection.getSnapshot()
    for (const { notify } of [...shared.users]) notify()
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
