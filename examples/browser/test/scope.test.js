import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, reload, type } from './support/page.js'
import { Scope } from '../scope.js'

let chosen, scope, select, input
beforeEach(() => {
  reload()
  chosen = []
  scope = new Scope((namespace) => chosen.push(namespace))
  select = byId('scope').querySelector('select')
  input = byId('scope').querySelector('input')
})
// Returns the options without the last one, which is tested separately.
const options = () => [...select.options].map(({ value, textContent }) => `${value}:${textContent}`).slice(0, -1)

test('the list of namespaces starts with the option "All namespaces"', () => {
  assert.deepEqual([select.hidden, input.hidden], [false, true])
  assert.deepEqual(options(), [':All namespaces'])
  scope.names(['a', 'b'])
  assert.deepEqual(options(), [':All namespaces', 'a:a', 'b:b'])
  assert.deepEqual([select, input].map((element) => element.getAttribute('aria-label')), ['Namespace', 'Namespaces, separated by commas'])
})

test('a text field replaces the list if namespaces cannot be listed', () => {
  scope.names(['a'])
  scope.names(null)
  assert.deepEqual([select.hidden, input.hidden], [true, false])
  assert.deepEqual([input.type, input.placeholder, input.autocomplete, input.getAttribute('spellcheck')], ['text', 'All namespaces', 'off', 'false'])
  type(input, ' shop ', 'change')
  assert.deepEqual(chosen, ['shop'])
  scope.names(['a'])
  assert.deepEqual([select.hidden, input.hidden], [false, true])
  type(select, 'a', 'change')
  assert.deepEqual(chosen, ['shop', 'a'])
})

test('the current namespace is selected even if the server does not list it', () => {
  scope.names(['a', 'b'])
  scope.show('b', true)
  assert.deepEqual([select.value, input.value], ['b', 'b'])
  assert.deepEqual(options(), [':All namespaces', 'a:a', 'b:b'])
  scope.show('gone', true)
  assert.equal(select.value, 'gone')
  assert.deepEqual(options(), [':All namespaces', 'gone:gone', 'a:a', 'b:b'])
  scope.names(['a'])
  assert.equal(select.value, 'gone')
  scope.show('', true)
  assert.deepEqual([select.value, input.value], ['', ''])
})

test('unchanged names do not redraw an open list', () => {
  scope.names(['a', 'b'])
  const option = select.options[1]
  scope.names(['a', 'b'])
  scope.show('', true)
  assert.equal(select.options[1], option)
  scope.names(['a', 'c'])
  assert.deepEqual(options(), [':All namespaces', 'a:a', 'c:c'])
})

test('the list of namespaces is hidden for a cluster-scoped collection', () => {
  scope.show('', false)
  assert.equal(byId('scope').hidden, true)
  scope.show('', true)
  assert.equal(byId('scope').hidden, false)
})

test('the last option replaces the list by a text field for several namespaces', () => {
  scope.names(['a', 'b'])
  scope.show('a', true)
  assert.equal(select.options[3].textContent, 'Several…')
  type(select, select.options[3].value, 'change')
  assert.deepEqual([select.hidden, input.hidden, input.value, document.activeElement], [true, false, 'a', input])
  type(input, ' a, b,', 'change')
  assert.deepEqual(chosen, ['a,b'])
  scope.show('a,b', true)
  assert.deepEqual([select.hidden, input.hidden, input.value], [true, false, 'a, b'])
  type(input, '', 'change')
  scope.show('', true)
  assert.deepEqual([chosen, select.hidden, input.hidden, select.value], [['a,b', ''], false, true, ''])
})
