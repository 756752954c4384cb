import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, byId, texts, textOf } from './support/page.js'
import { notice } from '../notices.js'

const shown = () => texts('#notices li span')

test('each kind of notice has one line, and an empty text removes the line', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
  notice('a', 'first')
  notice('b', 'other')
  assert.deepEqual(all('#notices li').map(({ dataset }) => dataset.kind), ['a', 'b'])
  t.mock.timers.tick(5000)
  assert.equal(byId('announcer').textContent, 'other')
  const line = byId('notices').firstElementChild
  notice('a', 'first')
  assert.equal(byId('notices').firstElementChild, line, 'the element must be reused')
  notice('a', 'second')
  assert.deepEqual(shown(), ['other', 'second'])
  notice('a', '')
  notice('b', '')
  assert.deepEqual(shown(), [])
  notice('a', 'second')
  assert.deepEqual(shown(), ['second'])
  notice('a', '')
})

test('a dismissed notice is not shown again, but a notice of the same kind with another text is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 2_000_000 })
  notice('c', 'no room')
  const button = byId('notices').querySelector('[data-kind="c"] button')
  assert.equal(button.getAttribute('aria-label'), 'Dismiss')
  assert.equal(button.title, 'Dismiss')
  assert.equal(button.textContent, '×')
  button.dispatchEvent(new Event('click'))
  assert.deepEqual(shown(), [])
  t.mock.timers.tick(5000)
  notice('c', 'no room')
  t.mock.timers.tick(5000)
  assert.deepEqual(shown(), [])
  notice('c', 'forbidden')
  assert.deepEqual(shown(), ['forbidden'])
})

test('a classic script shows a notice by dispatching an event', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 3_000_000 })
  document.dispatchEvent(new Event('notice'))
  document.dispatchEvent(new CustomEvent('notice', { detail: { kind: 'theme', text: 'not kept' } }))
  assert.equal(textOf('#notices [data-kind="theme"] span'), 'not kept')
})
