// Reports the progress of collections to the option `trace`, and warnings to the console.

/** @import { ListWatchOptions, TraceEvent } from './types.js' */

import { BOOKMARK, INTERRUPTED, LIVE, PAGE, RESET, STOPPED, SWITCHED, SYNCED, WARNING } from './records.js'

/** @type {Record<number, TraceEvent>} by the kind of the record */
const EVENTS = {
  [RESET]: 'list', [PAGE]: 'page', [SYNCED]: 'synced', [LIVE]: 'live', [BOOKMARK]: 'bookmark', [SWITCHED]: 'switched',
  [INTERRUPTED]: 'interrupted', [STOPPED]: 'stopped', [WARNING]: 'warning',
}

let warned = false // whether the console shows that watches take turns

/**
 * Reports a record. Without a `trace` function, it logs warnings, and once that watches take turns.
 * @param {number} kind
 * @param {string[]} fields
 * @param {ListWatchOptions['trace']} trace
 */
export function report(kind, fields, trace) {
  const event = EVENTS[kind], [first = '', message = ''] = fields
  if (!event) return
  if (trace) return callSafely(() => trace(event, kind === INTERRUPTED || kind === STOPPED ? `${first}: ${message}` : first))
  if (kind === WARNING) console.warn(first)
  if (first !== 'turns' || warned) return
  warned = true
  console.warn(`listwatch: ${message}`)
}

/** Calls a function of the application. An error is reported as uncaught, but does not affect the caller. @param {() => void} f */
export function callSafely(f) {
  try {
    f()
  } catch (error) {
    queueMicrotask(() => { throw error })
  }
}
