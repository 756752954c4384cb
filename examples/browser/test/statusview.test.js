import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { byId, reload, texts } from './support/page.js'
import { resetAnnouncements, showState } from '../statusview.js'

const NOW = new Date(2030, 0, 1, 12, 0, 0).getTime()
const route = { plural: 'pods', namespace: '', search: '', statuses: [] }
const feed = (size, shown = size) => ({ rows: { size, shown, view: Array.from({ length: shown }) } })
const live = { phase: 'live', resourceVersion: '7', lastEventAt: NOW }
const lost = { phase: 'stale', resourceVersion: '7', lastEventAt: NOW - 34_000, retryAt: NOW + 3000, cause: { code: 'network', message: 'refused' } }
const show = (state, of = feed(3), where = {}) => showState(state, of, { ...route, ...where }, NOW)
const hidden = (id) => byId(id).hidden
const text = (id) => byId(id).textContent

mock.timers.enable({ apis: ['setTimeout', 'Date'], now: NOW })
const later = () => { mock.timers.tick(10_000); return text('announcer') }
beforeEach(() => {
  reload()
  byId('title').textContent = 'Pods'
  resetAnnouncements()
})

test('a live collection shows its state, count and title', () => {
  show(live)
  assert.equal(text('connection-text'), 'Live')
  assert.equal(byId('connection').dataset.tone, 'ok')
  assert.equal(byId('connection').title, 'Version 7')
  assert.deepEqual(['retry', 'grid', 'stale', 'progress', 'empty'].map(hidden), [true, false, true, true, true])
  assert.equal(text('count'), '3')
  assert.equal(document.title, 'Pods · listwatch')
  assert.equal(document.body.classList.contains('is-stale'), false)
})

test('a new table receives the focus unless another element has the focus', () => {
  show(live, null)
  show(live)
  assert.equal(document.activeElement.id, 'grid')
  show(live, null)
  byId('search').focus()
  show(live)
  assert.equal(document.activeElement.id, 'search')
})

test('an interrupted collection is marked as stale and offers a retry', () => {
  show(lost)
  assert.equal(text('connection-text'), 'No connection · next try in 3 s')
  assert.deepEqual(['retry', 'stale'].map(hidden), [false, false])
  assert.equal(text('retry'), 'Try now')
  assert.match(text('stale'), /^Stale: last update at 11:59:26, 34s ago/)
  assert.equal(document.title, '⚠ · Pods · listwatch')
  assert.ok(document.body.classList.contains('is-stale'))
  show(live)
  assert.deepEqual(['retry', 'stale'].map(hidden), [true, true])
  assert.equal(document.body.classList.contains('is-stale'), false)
})

test('without a feed, the table is hidden', () => {
  showState({ phase: 'waiting' }, undefined, route, NOW)
  assert.equal(hidden('grid'), true)
  assert.equal(text('connection-text'), 'Connecting')
  assert.equal(text('count'), 'Loading')
  showState({ ...lost, resourceVersion: '' }, undefined, route, NOW)
  assert.equal(text('count'), '')
  assert.deepEqual(texts('#empty > *'), ['Not loaded yet · No connection', 'refused'])
})

test('the focus moves to the table when the retry button disappears', () => {
  show(lost)
  byId('retry').focus()
  show(lost)
  assert.equal(document.activeElement.id, 'retry')
  show(live)
  assert.equal(document.activeElement.id, 'grid')
  byId('search').focus()
  show(lost)
  show(live)
  assert.equal(document.activeElement.id, 'search')
})

test('the hidden retry button keeps its label', () => {
  show({ ...lost, cause: { code: 'unauthorized', message: 'no' } })
  assert.equal(text('retry'), 'Enter another token')
  show(live)
  assert.equal(text('retry'), 'Enter another token')
  show(lost)
  assert.equal(text('retry'), 'Try now')
})

test('the progress of the first list is shown', () => {
  const bar = byId('progress')
  show({ phase: 'listing', progress: { received: 500, remaining: 1500 } }, feed(500))
  assert.equal(bar.hidden, false)
  assert.deepEqual(['aria-valuenow', 'aria-valuetext'].map((name) => bar.getAttribute(name)), ['25', '500 of 2,000'])
  assert.equal(bar.classList.contains('unknown'), false)
  assert.equal(byId('progress-bar').style.width, '25%')
  assert.equal(text('count'), '500 of 2,000')
  show({ phase: 'listing', progress: { received: 700 } }, feed(0))
  assert.deepEqual(['aria-valuenow', 'aria-valuetext'].map((name) => bar.getAttribute(name)), [null, '700 received'])
  assert.ok(bar.classList.contains('unknown'))
  assert.equal(byId('progress-bar').style.width, '')
  assert.equal(text('count'), '700 received')
  assert.equal(hidden('empty'), true, 'no reason must be shown while the list is incomplete')
  show(live)
  assert.equal(bar.hidden, true)
  assert.equal(text('count'), '3')
})

test('during a search, the count is the number of matches', () => {
  show(live, feed(2500, 1200), { search: 'web' })
  assert.equal(text('count'), '1,200 of 2,500')
  show(live, feed(2500))
  assert.equal(text('count'), '2,500')
  show({ ...lost, resourceVersion: '' }, feed(0))
  assert.equal(text('count'), '')
})

test('an empty table shows why it is empty', () => {
  show(live, feed(0))
  assert.equal(hidden('empty'), false)
  assert.equal(byId('empty').innerHTML, '<strong>No pods</strong><p>They appear here as soon as there are any.</p>')
  const line = byId('empty').firstChild
  show(live, feed(0))
  assert.equal(byId('empty').firstChild, line, 'the message must not be redrawn')
  show(live, feed(3, 0), { search: 'x' })
  assert.deepEqual(texts('#empty > *'), ['Nothing matches “x”', 'Esc clears the search.'])
  show(live)
  assert.equal(hidden('empty'), true)
})

test('each state is announced once, and a live state includes the number of objects', () => {
  show(live)
  assert.equal(later(), 'Live. 3 pods')
  byId('announcer').textContent = ''
  show(live, feed(4))
  assert.equal(later(), '')
  show(lost)
  assert.equal(later(), 'No connection')
  show({ phase: 'listing' })
  assert.equal(later(), 'No connection', 'the start of a list must not be announced')
  byId('announcer').textContent = ''
  show(lost)
  assert.equal(later(), '')
  show(live)
  assert.equal(later(), 'Live. 3 pods')
})

test('a switch to another collection cancels the pending announcement and announces the next state', () => {
  show(live)
  resetAnnouncements()
  assert.equal(later(), '')
  show(live)
  assert.equal(later(), 'Live. 3 pods')
})
