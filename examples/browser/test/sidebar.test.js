import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { all, byId, press, reload, texts, type } from './support/page.js'
import { Sidebar } from '../sidebar.js'

const resource = (group, plural, kind, more) => ({ group, version: 'v1', plural, kind, namespaced: true, shortNames: [], ...more })
const RESOURCES = [
  resource('', 'pods', 'Pod', { shortNames: ['po'] }), resource('', 'nodes', 'Node', { namespaced: false, shortNames: ['no'] }),
  resource('networking.k8s.io', 'ingresses', 'Ingress', { shortNames: ['ing'] }), resource('', 'endpoints', 'Endpoints'),
  resource('example.com', 'widgets', 'Gadget'),
]
let route, sidebar
beforeEach(() => {
  reload()
  localStorage.clear()
  route = { group: '', version: 'v1', plural: 'pods', namespace: '' }
  sidebar = new Sidebar(() => route)
  sidebar.show(RESOURCES)
})
const link = (title) => document.querySelector(`#collections a[title="${title}"]`)
const visible = () => all('#collections a').filter((a) => !a.hidden && !a.closest('li').hidden && !a.closest('details').hidden).map((a) => a.title)
const current = () => all('#collections [aria-current]').map((a) => `${a.title} ${a.getAttribute('aria-current')}`)

test('the menu groups the collections', () => {
  assert.deepEqual(texts('#collections summary h2'), ['Workloads', 'Network', 'Cluster', 'Custom resources'])
  assert.deepEqual(all('#collections details').map((group) => texts('a', group)), [['pods'], ['ingresses', 'endpoints'], ['nodes'], ['widgets example.com']])
  assert.deepEqual(texts('.group'), ['example.com'])
})

const opened = () => all('#collections details').map((group) => group.open)
// Expands or collapses a group like a click. happy-dom sends no toggle event.
const toggle = (group, open) => {
  group.open = open
  group.dispatchEvent(new Event('toggle'))
}

test('a collapsed group stays collapsed until the user filters the menu or opens a collection in the group', () => {
  for (const group of all('#collections details')) toggle(group, false)
  sidebar.show(RESOURCES)
  assert.deepEqual(opened(), [false, false, false, false])
  type(byId('goto'), 'no')
  all('#collections details')[2].dispatchEvent(new Event('toggle'))
  assert.equal(opened()[2], true)
  type(byId('goto'), '')
  assert.equal(opened()[2], false)
  route = { ...route, plural: 'nodes' }
  sidebar.mark()
  assert.deepEqual(opened(), [false, false, true, false])
})

test('collapsed groups are saved for the next visit', () => {
  toggle(all('#collections details')[0], false)
  toggle(all('#collections details')[2], false)
  toggle(all('#collections details')[2], true)
  reload()
  sidebar = new Sidebar(() => route)
  sidebar.show(RESOURCES)
  assert.deepEqual(opened(), [false, true, true, true])
})

test('a notice is shown if the browser cannot save the collapsed groups', (t) => {
  const storage = globalThis.localStorage, line = () => texts('#notices [data-kind="menu"] span').join()
  globalThis.localStorage = { setItem() { throw new Error('no room') } }
  t.after(() => { globalThis.localStorage = storage })
  toggle(all('#collections details')[0], true)
  assert.equal(line(), '', 'an unchanged group must not be saved')
  toggle(all('#collections details')[0], false)
  assert.equal(line(), 'The menu forgets its collapsed groups because the browser cannot save them: no room')
})

test('in a narrow window, a button opens the menu, and following a link closes it', () => {
  const open = () => byId('sidebar').classList.contains('open') && byId('menu').getAttribute('aria-expanded') === 'true'
  const click = (element) => element.dispatchEvent(new Event('click'))
  assert.equal(open(), false)
  click(byId('menu'))
  assert.equal(open(), true)
  click(byId('menu'))
  assert.equal(open(), false)
  byId('goto').dispatchEvent(new Event('focus'))
  assert.equal(open(), true)
  click(link('v1/pods'))
  assert.equal(open(), false)
})

test('links to namespaced collections keep the selected namespace', () => {
  const href = (title) => link(title).getAttribute('href')
  assert.equal(href('v1/pods'), '#/v1/pods')
  route.namespace = 'shop'
  for (const title of ['v1/pods', 'v1/nodes', 'example.com/v1/widgets']) link(title).dispatchEvent(new Event('click'))
  assert.deepEqual(['v1/pods', 'v1/nodes', 'example.com/v1/widgets'].map(href), ['#/v1/pods?ns=shop', '#/v1/nodes', '#/example.com/v1/widgets?ns=shop'])
})

test('the current collection is marked and scrolled into view', () => {
  assert.deepEqual(current(), ['v1/pods page'])
  assert.equal(link('v1/pods').dataset.scrolled, 'true')
  assert.equal(link('v1/nodes').dataset.scrolled, undefined)
  route = { ...route, plural: 'nodes' }
  sidebar.mark()
  assert.deepEqual(current(), ['v1/nodes page'])
  sidebar.show(RESOURCES.slice(0, 2))
  assert.deepEqual(current(), ['v1/nodes page'])
  assert.equal(all('#collections a').length, 2)
})

test('the filter matches plurals, kinds and short names, and hides empty groups', () => {
  for (const [text, found] of [['PO', ['v1/pods', 'v1/endpoints']], [' widg ', ['example.com/v1/widgets']], ['gadget', ['example.com/v1/widgets']],
    ['ing', ['networking.k8s.io/v1/ingresses']], ['nothing', []], ['', ['v1/pods', 'networking.k8s.io/v1/ingresses', 'v1/endpoints', 'v1/nodes', 'example.com/v1/widgets']]]) {
    type(byId('goto'), text)
    assert.deepEqual(visible(), found, text)
  }
})

test('Enter opens the first match, Escape opens no collection, and both clear the filter', () => {
  const clicked = []
  for (const a of all('#collections a')) a.addEventListener('click', (event) => { event.preventDefault(); clicked.push(a.title) })
  type(byId('goto'), 'd')
  press(byId('goto'), 'x')
  assert.equal(byId('goto').value, 'd')
  press(byId('goto'), 'Enter')
  assert.deepEqual(clicked, ['v1/pods'])
  assert.equal(byId('goto').value, '')
  assert.equal(document.activeElement.id, 'grid')
  type(byId('goto'), 'widg')
  press(byId('goto'), 'Enter')
  type(byId('goto'), 'nothing')
  press(byId('goto'), 'Enter')
  assert.deepEqual(clicked, ['v1/pods', 'example.com/v1/widgets'])
  byId('goto').focus()
  type(byId('goto'), 'widg')
  press(byId('goto'), 'Escape')
  assert.deepEqual([clicked.length, byId('goto').value, visible().length, document.activeElement.id], [2, '', 5, 'grid'])
})

test('the filter handles Escape itself and passes other keys on to the page', () => {
  const reached = []
  const listener = ({ key }) => reached.push(key)
  document.addEventListener('keydown', listener)
  for (const key of ['Escape', 'Enter', 'a']) press(byId('goto'), key)
  document.removeEventListener('keydown', listener)
  assert.deepEqual(reached, ['Enter', 'a'])
})
