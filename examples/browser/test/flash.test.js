import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { media } from './support/page.js'
import { h } from '../dom.js'
import { Flash } from '../flash.js'

const motion = media['(prefers-reduced-motion: reduce)']
let lights, flash, element
beforeEach(() => {
  motion.matches = false
  lights = []
  element = h('div', {}, h('div'), h('div'))
  for (const [name, one] of [['row', element], ['cell 0', element.children[0]], ['cell 1', element.children[1]]]) {
    one.animate = ([from, to], timing) => {
      const light = { name, from: from.backgroundColor, to: to.backgroundColor, ...timing, cancel() { light.cancelled = true } }
      lights.push(light)
      return light
    }
  }
  flash = new Flash(element)
})
const mark = (type, cells = []) => ({ type, at: 1000, finalStateUnknown: false, cells })
const lit = () => lights.splice(0).map(({ name, from, to, duration, delay, easing, cancelled }) => [name, from, to, duration, delay, easing, !!cancelled])

test('additions, deletions and changes without changed cells highlight the row', () => {
  for (const type of ['added', 'modified', 'deleted']) {
    flash.show(mark(type), 1400)
    assert.equal(element.dataset.mark, type)
    assert.deepEqual(lit(), [['row', `var(--${type})`, 'transparent', 1600, -400, 'ease-in', false]])
  }
})

test('changed cells stay highlighted longer than changed rows', () => {
  flash.show(mark('modified', [1]), 1000)
  assert.deepEqual(lit(), [['cell 1', 'var(--modified)', 'transparent', 3200, -0, 'ease-in', false]])
  flash.show(mark('added', [0]), 1000)
  assert.deepEqual(lit().map(([name]) => name), ['row', 'cell 0'])
})

test('an expired highlight is not shown again', () => {
  flash.show(mark('added', [0]), 2599)
  assert.deepEqual(lit().map(([name]) => name), ['row', 'cell 0'])
  flash.show(mark('added', [0]), 2600)
  assert.deepEqual(lit().map(([name]) => name), ['cell 0'])
  flash.show(mark('added', [0]), 4200)
  assert.deepEqual(lit(), [])
  assert.equal(element.dataset.mark, 'added', 'the colored edge must remain')
})

test('showing another row cancels the highlights of the previous row', () => {
  flash.show(mark('modified', [0, 1]), 1000)
  const before = lights.splice(0)
  flash.show(undefined, 1000)
  assert.deepEqual(before.map(({ cancelled }) => cancelled), [true, true])
  assert.equal(element.dataset.mark, undefined)
  for (const light of before) light.cancelled = false
  flash.show(undefined, 1000)
  assert.deepEqual(before.map(({ cancelled }) => cancelled), [false, false], 'each highlight must be canceled only once')
})

test('with reduced motion, only the colored edge shows a change', () => {
  motion.matches = true
  flash.show(mark('added', [0]), 1000)
  assert.deepEqual(lit(), [])
  assert.equal(element.dataset.mark, 'added')
})
