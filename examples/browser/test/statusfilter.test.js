import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { all, byId, reload, texts } from './support/page.js'
import { StatusFilter } from '../statusfilter.js'

let filter, chosen
beforeEach(() => {
  reload()
  chosen = []
  filter = new StatusFilter(byId('statuses'), (statuses) => chosen.push(statuses))
})
const rows = (counts, more) => ({ hasStatus: true, size: 3, counting: true, counts: new Map(Object.entries(counts)), ...more })
const chips = () => texts('#statuses button')

test('each status is a button with its count, and the buttons are reused', () => {
  filter.show(rows({ Running: 1200, Failed: 2 }), ['Failed'])
  assert.deepEqual(chips(), ['Failed 2', 'Running 1,200'])
  assert.deepEqual(all('#statuses button').map((chip) => chip.getAttribute('aria-pressed')), ['true', 'false'])
  const before = all('#statuses button')
  filter.show(rows({ Running: 1 }), ['Failed'])
  assert.deepEqual(chips(), ['Failed 0', 'Running 1'])
  assert.deepEqual(all('#statuses button'), before)
  for (const chip of before) chip.dispatchEvent(new Event('click'))
  assert.deepEqual(chosen, [[], ['Failed', 'Running']])
})

test('only the most frequent statuses have buttons', () => {
  filter.show(rows(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`s${String(i).padStart(2, '0')}`, i]))), [])
  assert.deepEqual([chips().length, chips()[0]], [12, 's08 8'])
})

test('without statuses, the filter is hidden', () => {
  filter.show(rows({}, { hasStatus: false }), [])
  assert.equal(byId('statuses').hidden, true)
})

test('the statuses of a large collection are counted on request', () => {
  const large = { size: 1001, counting: false }
  assert.equal(filter.counts(rows({}), true), true)
  assert.equal(filter.counts(rows({}), false), false, 'the statuses of an incomplete list must not be counted')
  assert.equal(filter.counts(rows({}, { hasStatus: false }), true), false)
  assert.equal(filter.counts(rows({}, large), true), false)
  filter.show(rows({}, large), [])
  assert.deepEqual(chips(), ['Count by status'])
  byId('statuses').querySelector('button').dispatchEvent(new Event('click'))
  assert.deepEqual(chosen, [[]])
  assert.equal(filter.counts(rows({}, large), true), true)
  filter.reset()
  assert.equal(filter.counts(rows({}, large), true), false)
})
