import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, reload } from './support/page.js'
import { $, $of, announce, h, cancelAnnouncement, setAttribute, setText } from '../dom.js'

beforeEach(reload)

test('an element has the given attributes, listeners and children', () => {
  let clicks = 0
  const element = h('button', { class: 'x', disabled: true, hidden: false, title: undefined, tabindex: -1, onclick: () => clicks++ }, 'a', false, undefined, h('b', {}, '<i>'))
  assert.equal(element.outerHTML, '<button class="x" disabled="" tabindex="-1">a<b>&lt;i&gt;</b></button>')
  element.dispatchEvent(new Event('click'))
  assert.equal(clicks, 1)
  assert.equal(h('br').outerHTML, '<br>')
})

test('$() throws for a missing element, and $of() also throws for an element of the wrong class', () => {
  assert.equal($('grid'), byId('grid'))
  assert.equal($of('search', HTMLInputElement), byId('search'))
  assert.throws(() => $('nothing'), /index\.html has no element #nothing/)
  assert.throws(() => $of('grid', HTMLInputElement), /#grid is not an HTMLInputElement/)
})

test('setText does not write unchanged text', () => {
  const element = h('p')
  setText(element, 'a')
  assert.equal(element.textContent, 'a')
  const writes = []
  const node = element.firstChild
  Object.defineProperty(node, 'nodeValue', { get: () => writes.at(-1) ?? 'a', set: (value) => writes.push(value) })
  setText(element, 'a')
  setText(element, 'b')
  setText(element, 'b')
  assert.deepEqual(writes, ['b'])
  assert.deepEqual([...element.childNodes], [node])
})

test('setAttribute does not write unchanged values, and removes an attribute whose value is undefined or false', () => {
  const element = h('p'), writes = []
  const { setAttribute: write } = element
  element.setAttribute = (...args) => { writes.push(args); write.apply(element, args) }
  for (const value of [1, 1, '1', 2]) setAttribute(element, 'title', value)
  assert.deepEqual(writes, [['title', '1'], ['title', '2']])
  setAttribute(element, 'title', undefined)
  assert.equal(element.hasAttribute('title'), false)
  setAttribute(element, 'title', '')
  assert.equal(element.getAttribute('title'), '')
  setAttribute(element, 'title', false)
  assert.equal(element.hasAttribute('title'), false)
})

test('announcements are at least three seconds apart, and a newer announcement replaces a pending one', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
  const heard = () => byId('announcer').textContent
  const after = (ms) => { t.mock.timers.tick(ms); return heard() }
  announce('one')
  assert.equal(after(249), '')
  assert.equal(after(1), 'one')
  announce('two')
  announce('three')
  assert.equal(after(2999), 'one')
  assert.equal(after(1), 'three')
  announce('four')
  cancelAnnouncement()
  assert.equal(heard(), '')
  assert.equal(after(10_000), '')
})
