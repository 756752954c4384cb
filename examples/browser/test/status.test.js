import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indicator, explain, emptyMessage, isKnown, missingMessage, needsToken, progress, actionLabel, staleness } from '../status.js'

const route = { search: '', statuses: [], namespace: '', plural: 'pods' }
const cause = (code, message = 'why', more) => ({ code, message, ...more })
const state = (phase, more) => ({ phase, ...more })

const WORDS = {
  unauthorized: 'The server rejected the token', forbidden: 'Not allowed', 'not-found': 'The server has no such collection',
  expired: 'The resourceVersion has expired; relisting', 'too-many-requests': 'The server is rate limiting requests', 'too-large': 'The collection is too large',
  status: 'The server answered with an error', closed: 'The server ended the watch', silent: 'The server sent nothing for too long',
  unsupported: 'The server or this browser does not support this', network: 'No connection', malformed: 'The response could not be read',
  invalid: 'The request is invalid', load: 'The WASM module could not be loaded', crashed: 'The WASM module crashed: reload the page',
  other: 'Something went wrong',
}
for (const [code, short] of Object.entries(WORDS)) {
  test(`the cause "${code}" has a description`, () => assert.deepEqual(explain(cause(code)), { short, long: 'why' }))
}

test('the message of a cause omits the prefixes of the package', () => {
  assert.equal(explain(cause('network', 'listwatch: http: dial: TypeError: Failed to fetch')).long, 'dial')
  assert.deepEqual(explain(undefined), { short: '', long: '' })
})

test('only a network error is described as offline', (t) => {
  const real = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  const navigator = { onLine: false }
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true })
  t.after(() => (real ? Object.defineProperty(globalThis, 'navigator', real) : delete globalThis.navigator))
  assert.equal(explain(cause('network')).short, 'This computer is offline')
  assert.equal(explain(cause('status')).short, WORDS.status)
  navigator.onLine = true
  assert.equal(explain(cause('network')).short, 'No connection')
})

test('the indicator explains why a page is not live', () => {
  const shown = (phase, more) => indicator(state(phase, more), 1000)
  assert.deepEqual(shown('waiting'), { tone: 'busy', text: 'Connecting', more: '', title: '' })
  assert.deepEqual(shown('stale'), { tone: 'busy', text: 'Connecting', more: '', title: '' })
  assert.deepEqual(shown('listing'), { tone: 'busy', text: 'Listing', more: '', title: '' })
  assert.deepEqual(shown('listing', { synced: true }), { tone: 'busy', text: 'Opening the watch', more: '', title: '' })
  assert.deepEqual(shown('stopped'), { tone: 'bad', text: 'Stopped', more: '', title: '' })
  assert.deepEqual(shown('stopped', { cause: cause('forbidden') }), { tone: 'bad', text: 'Not allowed', more: '', title: 'why' })
  const lost = { tone: 'warn', text: 'No connection', title: 'why' }
  for (const phase of ['waiting', 'stale']) assert.deepEqual(shown(phase, { cause: cause('network'), retryAt: 1001 }), { ...lost, more: ' · next try in 1 s' })
  const next = (retryAt) => shown('stale', { cause: cause('network'), retryAt })
  assert.deepEqual(next(undefined), { ...lost, more: ' · trying now' })
  assert.deepEqual(next(1001), { ...lost, more: ' · next try in 1 s' })
  assert.deepEqual(next(2000), { ...lost, more: ' · next try in 1 s' })
  assert.deepEqual(next(2001), { ...lost, more: ' · next try in 2 s' })
  assert.deepEqual(next(31_000), { ...lost, more: ' · next try in 30 s' })
})

test('a live page without events shows the time since its last update', () => {
  assert.equal(indicator(state('live', { resourceVersion: '1' }), 60_000).more, ', last update 1 min ago')
})

test('only a 401 response requires another token', () => {
  assert.equal(needsToken(state('stopped', { cause: cause('unauthorized') })), true)
  assert.equal(needsToken(state('stopped', { cause: cause('forbidden') })), false)
  assert.equal(needsToken(state('live')), false)
})

test('the retry button is hidden while the page connects', () => {
  for (const phase of ['waiting', 'listing']) assert.equal(actionLabel(state(phase)), '')
  assert.equal(actionLabel(state('stale', { retryAt: 1, cause: cause('network') })), 'Try now')
  assert.equal(actionLabel(state('stale', { cause: cause('network') })), '', 'a relist is in progress')
})

test('rows are marked as stale only after the first complete list', () => {
  const at = new Date(2030, 0, 1, 13, 3, 4).getTime(), stale = { phase: 'stale', lastEventAt: at }
  assert.equal(staleness(stale, 3, at + 34_000), 'Stale: last update at 13:03:04, 34s ago. Later changes are unknown.')
  assert.equal(staleness({ ...stale, cause: cause('network') }, 1, at), 'Stale: last update at 13:03:04, 0s ago. Later changes are unknown. Cause: why')
  assert.equal(staleness({ ...stale, progress: { received: 1 } }, 3, at), '')
  assert.equal(staleness({ phase: 'stale', lastEventAt: 0 }, 3, at), '')
  assert.match(staleness({ phase: 'stopped', lastEventAt: at }, 3, at), /^Stale: /)
  for (const phase of ['waiting', 'listing', 'live']) assert.equal(staleness({ phase, lastEventAt: at }, 3, at), '')
})

test('the number of objects is known after a complete list', () => {
  assert.equal(isKnown(state('waiting', { resourceVersion: '' }), 0), false)
  assert.equal(isKnown(state('waiting', { resourceVersion: '' }), 1), true)
  assert.equal(isKnown(state('live', { resourceVersion: '1' }), 0), true)
})

test('an empty table shows the reason and a next step', () => {
  const lines = (of, size = 0, where = {}) => emptyMessage(of, size, { ...route, ...where })
  assert.deepEqual(lines(state('stopped', { cause: cause('not-found') })),
    ['The server has no such collection', 'why', 'Choose another collection in the menu, or refresh the menu with ⟳.'])
  assert.deepEqual(lines(state('stopped', { cause: cause('forbidden') })), ['Not allowed', 'why'])
  assert.deepEqual(lines(state('waiting')), [])
  assert.deepEqual(lines(state('waiting', { cause: cause('network') })), ['Not loaded yet · No connection', 'why'])
  const live = state('live', { resourceVersion: '1' })
  assert.deepEqual(lines(live), ['No pods', 'They appear here as soon as there are any.'])
  assert.deepEqual(lines(live, 0, { namespace: 'shop' }), ['No pods in shop', 'They appear here as soon as there are any.'])
  assert.deepEqual(lines(live, 3, { search: 'x' }), ['Nothing matches “x”', 'Esc clears the search.'])
  assert.deepEqual(lines(live, 3, { statuses: ['Failed', 'Error'] }), ['Nothing has the status Failed or Error', 'Esc clears the filters.'])
  assert.deepEqual(lines(live, 3, { statuses: ['Failed'], search: 'x' }), ['Nothing has the status Failed and matches “x”', 'Esc clears the filters.'])
  assert.deepEqual(lines(state('stale', { resourceVersion: '1', cause: cause('network') })),
    ['There were no pods', 'Later changes are unknown. Cause: why'])
  assert.deepEqual(lines(state('listing', { resourceVersion: '' })), [])
  assert.deepEqual(lines(state('listing', { resourceVersion: '1' })), ['No pods', 'They appear here as soon as there are any.'], 'the watch is not open yet')
})

test('the message about a missing object depends on the list and the namespace', () => {
  const web = { kind: 'Pod', name: 'web', namespace: 'shop' }, live = state('live'), lost = state('stale')
  assert.equal(missingMessage(live, web, ''), 'The Pod web does not exist in the namespace shop. It may have been deleted.')
  assert.equal(missingMessage(live, { kind: 'Node', name: 'n1', namespace: '' }, ''), 'The Node n1 does not exist. It may have been deleted.')
  assert.equal(missingMessage(lost, web, 'shop'), 'The last known list does not contain the Pod web in the namespace shop. Later changes are unknown.')
  assert.equal(missingMessage(live, web, 'batch'), 'This page shows only the namespace batch. The URL selects the Pod web in the namespace shop.')
})

test('the progress of the first list is shown', () => {
  assert.deepEqual(progress(state('waiting')), { text: 'Loading' })
  assert.equal(progress(state('waiting', { cause: cause('network') })), undefined)
  assert.equal(progress(state('live')), undefined)
  const listing = (received, remaining) => progress(state('listing', { progress: { received, remaining } }))
  assert.deepEqual(listing(1500), { text: '1,500 received' })
  assert.deepEqual(listing(1500, 0), { text: '1,500 received' })
  assert.deepEqual(listing(1500, -1), { text: '1,500 received' })
  assert.deepEqual(listing(1500, 1), { part: 1500 / 1501, text: '1,500 of 1,501' })
})
