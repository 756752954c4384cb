// Reports the progress of collections to the option `trace`, and warnings to the console.

/** @import { ListWatchOptions, TraceEvent } from './types.js' */

import { INTERRUPTED, RESET, STOPPED, WARNING } from './records.js'

/** The events of the kinds from RESET to WARNING. @type {TraceEvent[]} */
const EVENTS = ['list', 'synced', 'live', 'bookmark', 'interrupted', 'stopped', 'switched', 'page', 'warning']

const LOG_INTERVAL = 60_000 // in ms; during an outage every collection warns, and one of these warnings is enough

/** @type {Map<string, number>} the causes that the console has shown within the last minute, and when */
const shown = new Map()
let warned = false // whether the console shows that watches take turns

/**
 * Reports a record. Without a `trace` function, it logs each warning, but the same cause at most once per minute, and only
 * once that watches take turns.
 * @param {number} kind
 * @param {string[]} fields
 * @param {ListWatchOptions['trace']} trace
 */
export function report(kind, fields, trace) {
  const event = EVENTS[kind - RESET], [first = '', message = ''] = fields
  if (!event) return
  if (trace) return callSafely(() => trace(event, kind === INTERRUPTED || kind === STOPPED ? `${first}: ${message}` : first))
  if (kind === WARNING && !wasShown(message)) console.warn(first)
  if (first !== 'turns' || warned) return // 'turns' means that watches take turns; see sendWaiting in collection.go
  warned = true
  console.warn(`listwatch: ${message}`)
}

/** @param {string} cause the cause of a warning, or "" if it must be logged */
function wasShown(cause) {
  const now = Date.now()
  for (const [each, at] of shown) now - at < LOG_INTERVAL || shown.delete(each)
  const known = shown.has(cause)
  if (cause && !known) shown.set(cause, now)
  return known
}

/** Calls a function of the application. An error is reported as uncaught, but does not affect the caller. @param {() => void} f */
export function callSafely(f) {
  try {
    f()
  } catch (error) {
    queueMicrotask(() => { throw error })
  }
}
