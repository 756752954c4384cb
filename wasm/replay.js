// The SharedWorker stores no objects. When a page joins a running collection, another page sends it the objects and the
// state.

/** @import { Mirror } from './mirror.js' */
/** @import { Row } from './records.js' */

import { ADDED, ACTIVITY, INTERRUPTED, SAVED, LIVE, PAGE, RESET, SYNCED, UNSAVED, encode } from './records.js'
import { fieldsOf } from './mirror.js'

/**
 * Yields encoded records that recreate the mirror's state at the time of the first call of next().
 * @param {Mirror} mirror
 * @param {Set<string>} [unknown] the keys of objects that the current worker has not sent; these objects are omitted
 */
export function* replay(mirror, unknown) {
  const { state: { phase, progress, cause, retryAt = 0, lastEventAt, resourceVersion, persistError }, synced } = mirror
  const items = [...mirror.items.values()].filter(({ key }) => !unknown?.has(key))
  if (persistError) yield encode([[UNSAVED, persistError.message]])
  if (unknown ? phase !== 'listing' : phase === 'loading' && !items.length) return
  /** @type {Row[]} */
  let batch = phase === 'loading' ? [] : [[RESET]]
  for (const item of items) {
    batch.push([mirror.isStale(item) ? SAVED : ADDED, ...fieldsOf(item)])
    if (batch.length < 50) continue
    yield encode(batch)
    batch = []
  }
  if (synced && !unknown) batch.push([SYNCED, ''])
  if (progress) batch.push([PAGE, String(progress.remaining ?? 0), progress.remaining === undefined ? 'more' : ''])
  if (phase === 'live') batch.push([LIVE, ''])
  if (cause && (phase === 'interrupted' || cause.code === 'turns')) {
    const { code, message, status = '', reason = '' } = cause
    batch.push([INTERRUPTED, code, message, String(status), reason, String(Math.max(retryAt - Date.now(), 0)), '1'])
  }
  batch.push([ACTIVITY, String(lastEventAt), resourceVersion])
  yield encode(batch)
}
