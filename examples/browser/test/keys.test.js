import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, press, reload } from './support/page.js'
import { listen } from '../keys.js'

const log = []
reload()
listen(new Proxy({}, { get: (target, name) => (...args) => log.push([name, ...args].join(' ')) }))
beforeEach(() => log.splice(0))

const inGrid = {
  ArrowDown: 'move 1', j: 'move 1', ArrowUp: 'move -1', k: 'move -1', PageDown: 'page 1', PageUp: 'page -1',
  Home: 'edge false', End: 'edge true', Enter: 'open', ' ': 'open', Escape: 'escape',
}
for (const [key, call] of Object.entries(inGrid)) {
  test(`in the table, the key "${key}" triggers "${call}"`, () => {
    assert.equal(press(byId('grid'), key), true)
    assert.deepEqual(log, [call])
  })
}

test('the table shortcuts also work while no element has the focus', () => {
  assert.equal(press(document.body, 'j'), true)
  assert.deepEqual(log, ['move 1'])
})

test('letter keys open tabs of the details pane', () => {
  for (const key of ['o', 'y', 'e', 'c']) assert.equal(press(document.body, key), true)
  assert.deepEqual(log, ['openTab overview', 'openTab yaml', 'openTab events', 'openTab changes'])
})

test('digit keys sort by a column', () => {
  for (const key of ['1', '9']) assert.equal(press(byId('grid'), key), true)
  assert.deepEqual(log, ['sortBy 1', 'sortBy 9'])
})

test('the page ignores other keys and keys outside the table', () => {
  for (const key of ['x', '0']) assert.equal(press(byId('grid'), key), false)
  for (const key of ['ArrowDown', 'j', 'Enter', ' ', '1']) assert.equal(press(byId('theme'), key), false)
  assert.deepEqual(log, [])
})

test('the page ignores keys with a modifier', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) assert.equal(press(byId('grid'), 'j', { [modifier]: true }), false)
  assert.deepEqual(log, [])
})

test('shortcuts for the search, the menu, the theme and the help work everywhere', () => {
  let clicks = 0
  byId('theme').addEventListener('click', () => clicks++)
  for (const target of [document.body, byId('grid')]) {
    assert.equal(press(target, '/'), true)
    assert.equal(document.activeElement.id, 'search')
    press(target, 'g')
    assert.equal(document.activeElement.id, 'goto')
    press(target, 't')
  }
  assert.equal(clicks, 2)
  assert.equal(press(document.body, '?'), true)
  assert.equal(byId('help').open, true)
  assert.equal(press(byId('grid'), 'j'), false, 'an open dialog must receive the keys')
  byId('help').close()
  assert.deepEqual(log, [])
})

test('text fields receive all keys except Escape', () => {
  const input = byId('goto'), select = document.createElement('select'), area = document.createElement('textarea')
  document.body.append(select, area)
  for (const field of [input, select, area]) {
    for (const key of ['/', 'g', '?', 't', 'j', 'Enter']) assert.equal(press(field, key), false)
  }
  assert.deepEqual(log, [])
  assert.equal(press(input, 'Escape'), true)
  assert.deepEqual(log, ['escape'])
})

test('ArrowDown and Enter in the search field move the focus to the table', () => {
  for (const key of ['ArrowDown', 'Enter']) {
    byId('search').focus()
    assert.equal(press(byId('search'), key), true)
    assert.equal(document.activeElement.id, 'grid')
    assert.deepEqual(log.splice(0), ['move 0'])
  }
  assert.equal(press(byId('search'), 'j'), false)
  assert.deepEqual(log, [])
})
