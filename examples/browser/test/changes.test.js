import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, texts, textOf } from './support/page.js'
import { changeElement, inPart, objectsOf } from '../changes.js'

const pod = (resourceVersion, more) => ({ metadata: { name: 'web', resourceVersion }, ...more })
const entry = (type, { old, object = pod('2'), finalStateUnknown = false } = {}) =>
  ({ change: { type, old, object, finalStateUnknown, item: { resourceVersion: '2' } }, at: new Date(2030, 0, 1, 13, 4, 5).getTime(), before: '10', after: '20' })
// Simulates Versions. `at` returns the answer for a resourceVersion.
const versions = (answers) => ({ asked: [], at(version, { asOf }) { this.asked.push([version, asOf]); return answers[version] } })

test('additions and deletions are shown without their objects', () => {
  for (const type of ['added', 'deleted']) assert.deepEqual(objectsOf(entry(type), versions({})), { complete: true })
})

test('without a Versions object, the fields in the table count as the complete object', () => {
  const old = pod('1'), object = pod('2')
  assert.deepEqual(objectsOf(entry('modified', { old, object }), undefined), { old, object, complete: true })
})

test('the full objects replace the fields in the table', () => {
  const old = pod('1'), object = pod('2')
  const full = { 1: { object: pod('1', { full: true }) }, 2: { object: pod('2', { full: true }) } }, it = versions(full)
  assert.deepEqual(objectsOf(entry('modified', { old, object }), it), { old: full[1].object, object: full[2].object, complete: true })
  assert.deepEqual(it.asked, [['2', '20'], ['1', '10']])
})

test('only the fields in the table are compared until both full objects arrive', () => {
  const old = pod('1'), object = pod('2'), part = (answers) => objectsOf(entry('modified', { old, object }), versions(answers))
  assert.deepEqual(part({}), { old, object, complete: undefined, reason: undefined })
  assert.deepEqual(part({ 1: { object: old } }), { old, object, complete: undefined, reason: undefined })
  assert.deepEqual(part({ 2: { object } }), { old, object, complete: undefined, reason: undefined })
  assert.deepEqual(part({ 1: { reason: 'gone' }, 2: { object } }), { old, object, complete: false, reason: 'gone' })
  assert.deepEqual(part({ 1: { reason: 'gone' }, 2: { reason: 'expired' } }), { old, object, complete: false, reason: 'expired' })
})

test('a modification without an old object does not request a past version', () => {
  assert.equal(objectsOf(entry('modified'), versions({})).old, undefined)
})

const field = (element) => all('.field', element).map((one) => [textOf('dt', one), all('dd > *', one).map((e) => `${e.tagName.toLowerCase()} ${e.textContent}`)])

test('a modification shows its changed fields in an expandable element', () => {
  const old = pod('1', { a: 1, gone: 'x' }), object = pod('2', { a: 2, more: 'y' })
  const element = changeElement(entry('modified', { old, object }), { old, object, complete: true }, true)
  assert.equal(element.tagName, 'LI')
  assert.equal(element.firstElementChild.open, true)
  assert.deepEqual(texts('summary > *', element), ['changed', 'a, gone, more', '', '13:04:05'])
  assert.deepEqual(all('summary > *', element).map((e) => e.className), ['type', 'paths', 'ago', ''])
  assert.equal(element.querySelector('.type').dataset.type, 'modified')
  assert.deepEqual(field(element), [['a', ['del 1', 'span →', 'ins 2']], ['gone', ['del x', 'em removed']], ['more', ['span +', 'ins y']]])
  assert.deepEqual(all('.arrow', element).map((e) => e.getAttribute('aria-hidden')), ['true', 'true'])
  assert.equal(element.querySelector('.part'), null)
  assert.equal(changeElement(entry('modified'), { old, object, complete: true }, false).firstElementChild.open, false)
})

test('an incomplete change shows why it is incomplete', () => {
  const old = pod('1', { a: 1 }), object = pod('2', { a: 2 }), reason = 'the server answered 403'
  assert.equal(inPart(reason), 'Only the fields in the table are shown. The server did not return the rest: the server answered 403.')
  assert.equal(textOf('details > .part', changeElement(entry('modified'), { old, object, complete: false, reason }, true)), inPart(reason))
  assert.equal(textOf('.summary + .part', changeElement(entry('modified'), { old, object: old, complete: false, reason }, true)), inPart(reason))
})

test('a change without visible differences is labeled', () => {
  const old = pod('1'), paths = (pair) => textOf('.paths', changeElement(entry('modified'), pair, true))
  assert.equal(paths({ old, object: old, complete: undefined }), '…')
  assert.equal(paths({ old, object: old, complete: true }), 'no visible field')
  assert.equal(paths({ old, object: old, complete: false, reason: 'gone' }), 'no field in the table')
  assert.equal(paths({ old, object: undefined, complete: true }), 'no visible field')
})

test('additions and deletions are labeled, even if the final state is unknown', () => {
  const summary = (type, finalStateUnknown) => texts('.summary > *', changeElement(entry(type, { finalStateUnknown }), { complete: true }, true)).slice(0, 2)
  assert.deepEqual(summary('added'), ['appeared', ''])
  assert.deepEqual(summary('deleted', true), ['deleted', 'while disconnected'])
})

test('only the first 30 differences are listed', () => {
  const numbered = (n, value) => pod('1', Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, value])))
  const fields = (n) => field(changeElement(entry('modified'), { old: numbered(n, 1), object: numbered(n, 2), complete: true }, true))
  assert.equal(fields(30).length, 30)
  assert.equal(fields(30)[29][0], 'f29')
  assert.equal(fields(33).length, 31)
  assert.deepEqual(fields(33)[30], ['and 3 more', []])
})
