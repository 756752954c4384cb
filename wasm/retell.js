// Who comes late to a collection that is followed is told by one who has followed it, as the SharedWorker holds no objects.

import { ADDED, HEARD, INTERRUPTED, KEPT, LIVE, PAGE, RESET, SYNCED, encode } from './records.js'
import { fieldsOf } from './mirror.js'

/**
 * Yields records, as bytes, that make an empty mirror equal to one, as it is at the first step. `unknown` are the keys of
 * items that whoever tells of the collection now has not told.
 */
export function* retell(mirror, unknown) {
  const { state: { phase, progress, cause, retryAt, lastEventAt, resourceVersion }, synced } = mirror
  const items = [...mirror.items.values()].filter(({ key }) => !unknown?.has(key))
  if (unknown ? phase !== 'listing' : phase === 'loading' && !items.length) return
  let batch = phase === 'loading' ? [] : [[RESET]]
  for (const item of items) {
    batch.push([mirror.isStale(item) ? KEPT : ADDED, ...fieldsOf(item)])
    if (batch.length < 50) continue
    yield encode(batch)
    batch = []
  }
  if (synced && !unknown) batch.push([SYNCED, ''])
  if (progress) batch.push([PAGE, String(progress.remaining ?? 0), progress.remaining === undefined ? 'more' : ''])
  if (phase === 'live') batch.push([LIVE, ''])
  if (phase === 'interrupted' || cause?.code === 'turns') {
    const { code, message, status = '', reason = '' } = cause
    batch.push([INTERRUPTED, code, message, String(status), reason, String(Math.max((retryAt ?? 0) - Date.now(), 0)), '1'])
  }
  batch.push([HEARD, String(lastEventAt), resourceVersion])
  yield encode(batch)
}
