// The SharedWorker stores no objects. So when a page joins a running collection, it receives the objects and the state from
// another page.

/** @import { Mirror } from './mirror.js' */
/** @import { Row } from './records.js' */
/** @import { ListWatchError } from './error.js' */

import { ADDED, ACTIVITY, INTERRUPTED, SAVED, LIVE, PAGE, RESET, SYNCED, UNSAVED, encode } from './records.js'
import { fieldsOf } from './mirror.js'

/**
 * Yields encoded records that recreate the mirror's state at the time of the first call to next().
 * @param {Mirror} mirror
 * @param {Set<string>} [unknown] the keys of objects that the new watch of a reopened collection has not sent yet; they are omitted
 */
export function* replay(mirror, unknown) {
  const { state: { phase, since, progress, cause, retryAt, lastEventAt, resourceVersion, persistError }, synced, listing, resuming } = mirror
  const items = [...mirror.items.values()].filter(({ key }) => !unknown?.has(key))
  if (persistError) yield encode([[UNSAVED, persistError.message]])
  if (unknown ? !listing : phase === 'waiting' && !cause && !items.length) return // the current watch has sent nothing yet
  /** @type {Row[]} */
  let batch = listing || synced ? [[RESET]] : []
  for (const item of items) {
    batch.push([mirror.isStale(item) ? SAVED : ADDED, ...fieldsOf(item)])
    if (batch.length < 50) continue // as in outbox.go, so that the page can handle other events in between
    yield encode(batch)
    batch = []
  }
  // After a list and before its watch opens, SYNCED contains the list's resourceVersion. Otherwise SYNCED makes the receiver stale.
  if (synced && !unknown) batch.push([SYNCED, phase === 'listing' ? resourceVersion : ''])
  if (progress) batch.push([PAGE, String(progress.remaining ?? 0), progress.remaining === undefined ? 'more' : ''])
  if (phase === 'live') batch.push([LIVE, ''])
  if (cause && !unknown) batch.push(interrupted(cause, retryAt, '1'))
  if (resuming) batch.push(interrupted(resuming.cause, undefined, '')) // if `relist` is empty, the mirror stays live
  batch.push([ACTIVITY, String(lastEventAt), ...(unknown ? ['', ''] : [resourceVersion, String(since)])]) // if `unknown` is set, the first list of the new watch is not complete
  yield encode(batch)
}

// Returns the record of an interruption.
/** @param {ListWatchError} cause @param {number | undefined} retryAt @param {string} relist @returns {Row} */
export function interrupted({ code, message, status, reason = '' }, retryAt, relist) {
  const delay = retryAt === undefined ? '' : String(Math.max(retryAt - Date.now(), 0))
  return [INTERRUPTED, code, message, String(status ?? ''), reason, delay, relist]
}
