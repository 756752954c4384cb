import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import './support/package.js'
import { Row } from '../row.js'
import { all, byId, press, reload, size, texts, textOf, turn, type, window } from './support/page.js'
import { added, calls, deleted, item, live, modified, opened } from './support/listwatch.js'

// Tests control the timers, the clock and the animation frames of the page.
mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2030-01-01T00:00:00Z') })
let clock = 0, frames, intervals, listeners = [], runs = 0, answer, requests, visited
Object.defineProperty(performance, 'now', { value: () => clock })
globalThis.requestAnimationFrame = (f) => frames.push(f)
globalThis.setInterval = (f, ms) => intervals.push([f, ms])
globalThis.addEventListener = (name, listener) => listeners.push([name, listener])
globalThis.fetch = async (url) => {
  requests.push(url)
  if (url.includes('customresourcedefinitions') || url.endsWith('?limit=500')) return refusal(404)
  return url.endsWith('/api') ? answer() : url.endsWith('/apis') ? Response.json({ kind: 'APIGroupDiscoveryList' }) : new Promise(() => {})
}
Object.defineProperty(globalThis, 'location', { value: { hash: '', search: '', origin: 'http://page.example', href: 'http://page.example/' } })
const replaceState = (state, title, url) => {
  visited.push(String(url))
  history.state = state
}
let before // state and URL fragment before the latest pushState
const pushState = (...args) => {
  before = { state: history.state, hash: visited.at(-1) ?? location.hash }
  replaceState(...args)
}
const back = () => {
  history.state = before.state
  hash(before.hash)
}
Object.defineProperty(globalThis, 'history', { value: { state: null, replaceState, pushState, back } })

const resource = (name, more) => ({ resource: name, verbs: ['list', 'watch'], scope: 'Namespaced', responseKind: { kind: name === 'pods' ? 'Pod' : name }, ...more })
const RESOURCES = [resource('pods'), resource('nodes', { scope: 'Cluster' }), resource('events')]
const discovery = (...resources) => Response.json({ kind: 'APIGroupDiscoveryList', items: [{ metadata: {}, versions: [{ version: 'v1', resources }] }] })
const refusal = (status) => Response.json({ message: 'no' }, { status })
const settle = async () => { for (let i = 0; i < 5; i++) await turn() }
const fire = (name) => { for (const [of, listener] of listeners) if (of === name) listener() }
const frame = () => { for (const f of frames.splice(0)) f() }
const drawn = () => { while (frames.length) frame() }
const heard = () => { mock.timers.tick(10_000); return byId('announcer').textContent }
const click = (element) => element.dispatchEvent(new Event('click', { bubbles: true }))
const hash = (value) => { location.hash = value; fire('hashchange') }
const asks = () => requests.filter((url) => url.endsWith('/api')).length

const pod = (name, resourceVersion = '1', more = {}) => item({ metadata: { name, namespace: 'shop' }, spec: { nodeName: `node-${name}` }, ...more }, resourceVersion)
const first = (...items) => items.map((one) => added(one, { initial: true }))
const feeds = () => opened.filter(({ options }) => options.resource !== 'v1/namespaces')
const feed = () => feeds().at(-1)
const keys = () => all('.row').filter((row) => !row.hidden).sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')).map(({ dataset }) => dataset.key)
const rowOf = (key) => all('.row').find((row) => !row.hidden && row.dataset.key === key)

/** Loads the page at a URL fragment and waits until it has discovered the collections. */
async function boot(at = '#/v1/pods') {
  location.hash = at
  await import(`../app.js?${runs++}`)
  await settle()
  drawn()
}
/** Loads the page with the given objects. */
async function bootWith(at, ...items) {
  await boot(at)
  feed().report(live('10'), first(...items))
  drawn()
}

beforeEach(async () => {
  answer = () => new Promise(() => {}) // the previous page must not retry its requests
  const before = listeners
  listeners = []
  for (const [name, listener] of before) if (name === 'focus') listener()
  await settle()
  mock.timers.tick(60_000)
  await settle()
  reload()
  size(byId('grid'), 1000, 280)
  localStorage.clear()
  clock += 1_000_000
  frames = []
  intervals = []
  opened.length = 0
  requests = []
  visited = []
  history.state = null
  calls.wake = 0
  answer = () => discovery(...RESOURCES)
})

test('a page without a route shows Pods', async () => {
  await boot('')
  assert.deepEqual(visited, ['#/v1/pods'])
  assert.deepEqual(opened.map(({ options }) => options.resource), ['v1/namespaces', 'v1/pods'])
  assert.equal(byId('title').textContent, 'Pods')
  assert.equal(byId('grid').getAttribute('aria-label'), 'Pods')
  assert.equal(textOf('#collections [aria-current]'), 'pods')
  assert.equal(byId('connection-text').textContent, 'Connecting')
})

test('a page shows the collection and the namespace that its URL specifies', async () => {
  await boot('#/v1/pods?ns=shop')
  assert.equal(feed().options.namespace, 'shop')
  assert.equal(byId('grid').getAttribute('aria-label'), 'Pods in shop')
  assert.equal(byId('scope').querySelector('select').value, 'shop')
  assert.equal(byId('scope').hidden, false)
  assert.deepEqual(visited, [])
})

test('changes are drawn together in the next frame', async () => {
  await boot()
  feed().report({ ...live('10') }, first(pod('b')))
  feed().report({ ...live('11') }, first(pod('a')))
  assert.equal(frames.length, 1)
  assert.deepEqual(keys(), [])
  frame()
  assert.deepEqual(keys(), ['shop/a', 'shop/b'])
  assert.equal(byId('connection-text').textContent, 'Live')
  assert.equal(byId('count').textContent, '2')
  assert.equal(frames.length, 0)
})

test('times are updated twice a second', async () => {
  await bootWith('#/v1/pods', pod('a'))
  const [[draw, ms]] = intervals
  assert.equal(ms, 500)
  mock.timers.setTime(Date.now() + 20_000)
  draw()
  frame()
  assert.equal(byId('connection-text').textContent, 'Live, last update 20 s ago')
})

test('deleted rows disappear, and marks expire', async () => {
  await bootWith('#/v1/pods', pod('a'), pod('b'))
  feed().report(live('11'), [deleted(pod('a')), modified(pod('b', '2'), pod('b'))])
  drawn()
  assert.deepEqual(keys(), ['shop/a', 'shop/b'])
  mock.timers.setTime(Date.now() + 6000)
  intervals[0][0]()
  drawn()
  assert.deepEqual(keys(), ['shop/b'])
  assert.equal(rowOf('shop/b').dataset.mark, undefined)
})

test('the change rate is shown', async () => {
  await bootWith('#/v1/pods', pod('a'))
  feed().report(live('11'), [modified(pod('a', '2'), pod('a'))])
  mock.timers.setTime(Date.now() + 2000)
  intervals[0][0]()
  frame()
  assert.equal(byId('rate').textContent, '0.2')
})

test('a search filters the table and announces the number of matches once', async () => {
  await bootWith('#/v1/pods', pod('web'), pod('db'))
  assert.equal(heard(), 'Live. 2 pods')
  type(byId('search'), 'web')
  assert.deepEqual(visited, ['#/v1/pods?q=web'])
  drawn()
  assert.deepEqual(keys(), ['shop/web'])
  assert.equal(byId('count').textContent, '1 of 2')
  assert.equal(heard(), '1 of 2 match')
  byId('announcer').textContent = ''
  intervals[0][0]()
  drawn()
  assert.equal(heard(), '')
  type(byId('search'), '')
  drawn()
  assert.deepEqual(keys(), ['shop/db', 'shop/web'])
  assert.equal(heard(), '', 'clearing the search must not announce matches')
})

test('a search term in the URL appears in the search field', async () => {
  await bootWith('#/v1/pods?q=web', pod('web'), pod('db'))
  assert.equal(byId('search').value, 'web')
  assert.deepEqual(keys(), ['shop/web'])
  hash('#/v1/pods?q=db')
  drawn()
  assert.equal(byId('search').value, 'db')
  assert.deepEqual(keys(), ['shop/db'])
})

test('typing does not move the text cursor in the search field', async () => {
  await bootWith('#/v1/pods', pod('web'))
  let writes = 0
  const search = byId('search')
  search.value = 'web'
  Object.defineProperty(search, 'value', { get: () => 'web', set: () => writes++ })
  search.dispatchEvent(new Event('input'))
  assert.equal(writes, 0)
})

test('clicks on a column header sort ascending, then descending, then by key', async () => {
  await bootWith('#/v1/pods', pod('a', '1', { spec: { nodeName: 'y' } }), pod('b', '1', { spec: { nodeName: 'x' } }))
  const node = () => all('.head [role="columnheader"]').find((e) => e.textContent === 'Node')
  const step = () => {
    click(node().querySelector('button'))
    drawn()
    return [visited.at(-1), keys().join(' '), node().getAttribute('aria-sort'), heard()]
  }
  byId('grid').scrollTop = 5
  assert.deepEqual(step(), ['#/v1/pods?sort=node', 'shop/b shop/a', 'ascending', 'Sorted by node, ascending'])
  assert.equal(byId('grid').scrollTop, 0, 'the table must show the first rows of the new order')
  assert.deepEqual(step(), ['#/v1/pods?sort=-node', 'shop/a shop/b', 'descending', 'Sorted by node, descending'])
  assert.deepEqual(step(), ['#/v1/pods', 'shop/a shop/b', 'none', 'Sorted by key'])
})

test('the URL determines the order of the rows', async () => {
  await bootWith('#/v1/pods?sort=-name', pod('a'), pod('b'))
  assert.deepEqual(keys(), ['shop/b', 'shop/a'])
  hash('#/v1/pods?sort=name')
  drawn()
  assert.deepEqual(keys(), ['shop/a', 'shop/b'])
  hash('#/v1/pods?sort=-name')
  drawn()
  assert.deepEqual(keys(), ['shop/b', 'shop/a'])
})

test('events are sorted by age by default', async () => {
  const event = (name, lastTimestamp) => item({ metadata: { name }, lastTimestamp })
  await bootWith('#/v1/events', event('a', '2029-01-01T00:00:00Z'), event('b', '2029-01-02T00:00:00Z'))
  assert.deepEqual(keys(), ['b', 'a'])
  assert.equal(textOf('[aria-sort="ascending"]'), 'Last')
  click(all('.head button')[0])
  assert.equal(visited.at(-1), '#/v1/events?sort=-last')
})

test('a click on a row selects the row and opens the details pane', async () => {
  await bootWith('#/v1/pods', pod('a'), pod('b'))
  assert.equal(byId('detail').hidden, true)
  click(rowOf('shop/b'))
  drawn()
  assert.deepEqual(visited, ['#/v1/pods?sel=shop/b'])
  assert.equal(byId('detail-name').textContent, 'b')
  assert.equal(byId('detail').hidden, false)
  assert.equal(rowOf('shop/b').getAttribute('aria-selected'), 'true')
  assert.equal(document.activeElement.id, 'grid')
  assert.deepEqual(requests.at(-1), 'http://page.example/api/v1/namespaces/shop/pods/b')
})

test('the details pane shows changes to its object and stays open after the object is deleted', async () => {
  await bootWith('#/v1/pods?sel=shop/a', pod('a'), pod('b'))
  assert.equal(byId('detail-name').textContent, 'a')
  feed().report(live('11'), [modified(pod('a', '2', { status: { phase: 'Failed' } }), pod('a'))])
  drawn()
  assert.match(textOf('.detail .paths'), /status/)
  feed().report(live('12'), [deleted(pod('a', '2'))])
  drawn()
  mock.timers.setTime(Date.now() + 6000)
  intervals[0][0]()
  drawn()
  assert.deepEqual(keys(), ['shop/b'])
  assert.equal(byId('detail').hidden, false)
  hash('#/v1/pods?sel=shop/a&tab=changes')
  drawn()
  assert.equal(byId('panel-changes').hidden, false, 'the tabs of a deleted object must still work')
  assert.match(textOf('.sub'), /^deleted · /)
  click(byId('detail').querySelector('[aria-label="Close"]'))
  drawn()
  assert.equal(byId('detail').hidden, true)
  assert.equal(visited.at(-1), '#/v1/pods')
})

test('after a deletion, the neighboring row becomes active, and the details pane keeps the deleted object', async () => {
  await bootWith('#/v1/pods', pod('a'), pod('b'), pod('c'))
  for (const key of ['j', 'j', 'Enter']) press(byId('grid'), key)
  drawn()
  feed().report(live('11'), [deleted(pod('b'))])
  drawn()
  mock.timers.setTime(Date.now() + 6000)
  intervals[0][0]()
  drawn()
  assert.deepEqual(keys(), ['shop/a', 'shop/c'])
  assert.equal(rowOf('shop/c').getAttribute('aria-selected'), 'true')
  assert.equal(byId('grid').getAttribute('aria-activedescendant'), rowOf('shop/c').id)
  assert.deepEqual([textOf('#detail-name'), byId('detail').className], ['b', 'detail gone'])
  type(byId('search'), 'shop')
  drawn()
  assert.equal(rowOf('shop/c').getAttribute('aria-selected'), 'true', 'a search must keep the active row')
  press(byId('grid'), 'k')
  drawn()
  assert.equal(byId('detail-name').textContent, 'a')
})

test('the details pane explains that the selected object does not exist', async () => {
  await boot('#/v1/pods?sel=shop/lost')
  drawn()
  assert.equal(byId('detail').hidden, true, 'the message must wait for the first list, which may still contain the object')
  feed().report(live('10'), first(pod('a')))
  drawn()
  assert.equal(textOf('#detail > .none'), 'The Pod lost does not exist in the namespace shop. It may have been deleted.')
  assert.equal(heard(), textOf('#detail > .none'))
  feed().report(live('11'), [added(pod('lost'))])
  drawn()
  assert.deepEqual([byId('detail').className, byId('detail-name').textContent], ['detail', 'lost'])
})

test('the keyboard moves the cursor, and opens and closes the details pane', async () => {
  await bootWith('#/v1/pods', pod('a'), pod('b'))
  press(byId('grid'), 'j')
  press(byId('grid'), 'j')
  drawn()
  assert.equal(rowOf('shop/b').getAttribute('aria-selected'), 'true')
  press(byId('grid'), 'Enter')
  drawn()
  assert.equal(byId('detail-name').textContent, 'b')
  press(byId('grid'), 'k')
  drawn()
  assert.equal(byId('detail-name').textContent, 'a')
  press(byId('grid'), 'Escape')
  drawn()
  assert.equal(byId('detail').hidden, true)
  assert.equal(rowOf('shop/a').getAttribute('aria-selected'), 'true', 'the row must stay active')
})

test('selecting another collection replaces the current one', async () => {
  await bootWith('#/v1/pods?sel=shop/a', pod('a'))
  const [before] = feeds()
  hash('#/v1/nodes')
  assert.equal(before.closed, true)
  assert.equal(feed().options.resource, 'v1/nodes')
  assert.equal(byId('title').textContent, 'nodes')
  assert.equal(byId('scope').hidden, true)
  assert.equal(byId('detail').hidden, true)
  assert.equal(textOf('#collections [aria-current]'), 'nodes')
  drawn()
  assert.deepEqual(keys(), [])
  assert.equal(heard(), '', 'the announcement about the Pods must be canceled')
  feed().report(live('10'), first(item({ metadata: { name: 'n' } })))
  drawn()
  press(byId('grid'), 'j')
  drawn()
  assert.equal(rowOf('n').getAttribute('aria-selected'), 'true')
})

test('the row selected in the URL is active', async () => {
  await bootWith('#/v1/pods?sel=shop/b', pod('a'), pod('b'))
  assert.equal(rowOf('shop/b').getAttribute('aria-selected'), 'true')
  hash('#/v1/pods?sel=shop/a')
  drawn()
  assert.equal(rowOf('shop/a').getAttribute('aria-selected'), 'true')
  assert.equal(feeds().length, 1, 'the feed must stay open')
})

test('selecting a namespace replaces the feed and clears the selection', async () => {
  await bootWith('#/v1/pods?q=a&sel=shop/a', pod('a'))
  opened[0].items = [{ name: 'shop' }, { name: 'batch' }]
  opened[0].report(live())
  const select = byId('scope').querySelector('select')
  assert.deepEqual([...select.options].map(({ value }) => value), ['', 'shop', 'batch', ','])
  type(select, 'batch', 'change')
  assert.deepEqual(visited, ['#/v1/pods?ns=batch&q=a'])
  assert.deepEqual(feeds().map(({ closed, options }) => [closed, options.namespace]), [[true, undefined], [false, 'batch']])
})

test('several namespaces are watched separately, and the page shows the worst state', async () => {
  await bootWith('#/v1/pods?ns=shop,batch')
  const [shop, batch] = feeds()
  assert.deepEqual([shop.options.namespace, batch.options.namespace, feeds().length], ['shop', 'batch', 2])
  batch.report(live('9'), [added(item({ metadata: { name: 'b', namespace: 'batch' } }))])
  shop.report(live('7'), [added(item({ metadata: { name: 'a', namespace: 'shop' } }))])
  drawn()
  assert.deepEqual(texts('.row:not([hidden]) > div:first-child'), ['batch', 'shop'])
  assert.match(byId('connection-text').textContent, /^Live/)
  batch.report({ phase: 'stopped', cause: { code: 'forbidden', message: 'no access' }, resourceVersion: '9', lastEventAt: 0 })
  drawn()
  assert.equal(byId('connection-text').textContent, 'Not allowed')
  hash('#/v1/pods?ns=shop')
  assert.deepEqual([shop.closed, batch.closed], [true, true])
})

test('a paused table keeps its rows and applies the later changes when it resumes', async () => {
  const [a, b] = [pod('a'), pod('b')]
  await bootWith('#/v1/pods', a)
  const rows = () => texts('.row:not([hidden]) > div:nth-child(2)'), [pods] = feeds()
  press(byId('grid'), 'p')
  pods.report(live('2'), [added(b)])
  pods.report(live('3'), [modified(b, b)])
  pods.report(live('4'), [deleted(a)])
  drawn()
  assert.deepEqual(rows(), ['a'])
  assert.match(byId('paused').textContent, /ago\. 2 objects have changed since then\./)
  press(byId('grid'), 'p')
  drawn()
  assert.deepEqual(rows(), ['a', 'b'])
  assert.equal(all('.row[data-mark="added"]').length, 1, 'an object that was added and modified is new')
  assert.equal(byId('paused').hidden, true)
})

test('a collection is opened even if the server does not offer it', async () => {
  await boot('#/example.com/v1/widgets')
  assert.equal(feed().options.resource, 'example.com/v1/widgets')
  assert.equal(byId('title').textContent, 'widgets')
  assert.equal(byId('scope').hidden, false)
  hash('#/nosuch')
  drawn()
  assert.equal(feeds().length, 1)
  assert.equal(byId('connection-text').textContent, 'The server has no such collection')
})

test('a collection is identified by its group and plural, not by its version', async () => {
  await boot('#/example.com/v1/pods')
  assert.equal(byId('title').textContent, 'pods')
  hash('#/v1beta1/pods')
  assert.equal(feed().options.resource, 'v1/pods', 'the collection must be opened in the server\'s preferred version')
})

test('if the server is down when the page loads, the page shows the error from the collection', async () => {
  answer = () => { throw new TypeError('away') }
  await boot()
  assert.equal(feed().options.resource, 'v1/pods')
  feed().report({ phase: 'waiting', resourceVersion: '', lastEventAt: 0, retryAt: Date.now() + 3000, cause: { code: 'network', message: 'http: no response: the server may be down' } })
  drawn()
  assert.equal(byId('connection-text').textContent, 'No connection · next try in 3 s')
  assert.deepEqual(texts('#empty > *'), ['Not loaded yet · No connection', 'no response: the server may be down'])
  answer = () => discovery(...RESOURCES)
  feed().report(live('10'), first(pod('a')))
  drawn()
  await settle()
  assert.equal(textOf('#collections [aria-current]'), 'pods', 'the menu must be loaded when the server is back')
})

test('if the server is not an API server, the page shows the error instead of the table', async () => {
  answer = () => Response.json({ kind: 'Greeting' })
  await boot()
  assert.equal(byId('grid').hidden, true)
  assert.equal(byId('connection-text').textContent, 'The response could not be read · next try in 1 s')
  hash('#/v1/nodes')
  assert.equal(opened.length, 0)
  const asked = asks()
  click(byId('retry'))
  await settle()
  assert.ok(asks() > asked)
  answer = () => discovery(...RESOURCES)
  click(byId('retry'))
  await settle()
  drawn()
  assert.equal(feed().options.resource, 'v1/nodes')
  assert.equal(byId('grid').hidden, false)
})

test('the retry button retries an interrupted collection and reopens a stopped collection', async () => {
  await bootWith('#/v1/pods', pod('a'))
  feed().report({ ...live('10'), phase: 'stale', cause: { code: 'network', message: 'away' } })
  click(byId('retry'))
  assert.deepEqual([calls.wake, feeds().length], [1, 1])
  feed().report({ ...live('10'), phase: 'stopped', cause: { code: 'forbidden', message: 'no' } })
  click(byId('retry'))
  assert.deepEqual([calls.wake, feeds().length, feeds()[0].closed], [1, 2, true])
  assert.equal(byId('connect').open, false)
})

test('after a 401 response, the retry button asks for another token', async () => {
  await bootWith('#/v1/pods', pod('a'))
  feed().report({ ...live('10'), phase: 'stale', cause: { code: 'unauthorized', message: 'listwatch: Unauthorized' } })
  drawn()
  assert.equal(byId('retry').textContent, 'Enter another token')
  click(byId('retry'))
  assert.equal(byId('connect').open, true)
  assert.equal(byId('connect-why').textContent, 'Unauthorized')
  assert.equal(calls.wake, 0)
})

test('the page asks for another token if the server rejects the discovery request', async () => {
  answer = () => refusal(401)
  await boot()
  assert.equal(byId('connect').open, true)
  byId('connect').close()
  drawn()
  assert.equal(byId('retry').textContent, 'Enter another token')
  click(byId('retry'))
  assert.equal(byId('connect').open, true)
})

test('changing the server closes the feed', async () => {
  await bootWith('#/v1/pods', pod('a'))
  click(byId('server'))
  assert.equal(byId('connect').open, true)
  let fail
  answer = () => new Promise((resolve, reject) => { fail = reject })
  byId('connect-server').value = 'http://other.example'
  byId('connect').close('connect')
  await settle()
  assert.equal(feeds()[0].closed, true)
  intervals[0][0]()
  frame()
  assert.equal(byId('connection-text').textContent, 'Connecting')
  fail(new TypeError('away'))
  await settle()
  drawn()
  assert.equal(feed().options.server, 'http://other.example')
  assert.deepEqual(keys(), [])
  assert.deepEqual(texts('#collections a'), [])
})

test('the buttons open the help and refresh the menu', async () => {
  await boot()
  click(byId('help-open'))
  assert.equal(byId('help').open, true)
  byId('help').close()
  answer = () => discovery(...RESOURCES, resource('widgets'))
  click(byId('refresh'))
  await settle()
  assert.ok(texts('#collections a').includes('widgets'))
  assert.equal(feeds().length, 1, 'the feed must stay open')
  assert.equal(heard(), 'The collections have changed')
})

test('a collection is reopened when its definition changes', async () => {
  await boot()
  answer = () => discovery(resource('pods', { scope: 'Cluster' }))
  click(byId('refresh'))
  await settle()
  assert.deepEqual(feeds().map(({ closed }) => closed), [true, false])
})

test('a stopped collection is reopened when the list of collections changes', async () => {
  await boot()
  feed().report({ ...live('10'), phase: 'stopped' })
  answer = () => discovery(...RESOURCES, resource('widgets'))
  click(byId('refresh'))
  await settle()
  assert.equal(feeds().length, 2)
})

test('focus and online events refresh the menu at a limited rate', async () => {
  for (const event of ['focus', 'online']) {
    const before = asks()
    clock += 10_000
    if (!before) await boot()
    const asked = asks()
    fire(event)
    fire(event)
    await settle()
    assert.equal(asks(), asked + 1, event)
  }
})

test('the menu is refreshed after a reconnect, and when the server no longer offers the collection', async () => {
  await bootWith('#/v1/pods', pod('a'))
  const after = async (state) => {
    const before = asks()
    feed().report({ ...live('10'), ...state })
    drawn()
    await settle()
    return asks() - before
  }
  const lost = { phase: 'stale', cause: { code: 'network', message: 'away' } }, unknown = { phase: 'stale', cause: { code: 'not-found', message: 'none' } }
  assert.equal(await after({}), 0)
  assert.equal(await after(lost), 0)
  assert.equal(await after({}), 1)
  assert.equal(await after({}), 0)
  assert.equal(await after(unknown), 1)
  assert.equal(await after(unknown), 0)
  assert.equal(await after({ phase: 'listing' }), 0)
  assert.equal(await after({}), 0, 'without an interruption, the menu must not be refreshed')
})

test('a change to the theme redraws the page', async () => {
  await boot()
  assert.equal(frames.length, 0)
  document.dispatchEvent(new Event('themechange'))
  assert.equal(frames.length, 1)
})

test('scrolling draws the rows that become visible', async () => {
  await bootWith('#/v1/pods', ...Array.from({ length: 100 }, (_, i) => pod(`p${String(i).padStart(3, '0')}`)))
  assert.equal(keys()[0], 'shop/p000')
  byId('grid').scrollTop = 50 * 28
  byId('grid').dispatchEvent(new Event('scroll'))
  frame()
  assert.equal(keys()[0], 'shop/p044')
})

test('a long list is searched over several frames before the number of matches is announced', async () => {
  await boot('#/v1/configmaps') // ConfigMaps have no status column; to count statuses, the page would read rows before the search and advance the clock
  const slow = Array.from({ length: 10 }, (_, i) => {
    const one = pod(`p${i}`), { object } = one
    return Object.defineProperty(one, 'object', { get() { clock += 2; return object } })
  })
  feed().report(live('10'), slow.map((one) => ({ type: 'added', key: one.key, item: one, initial: true, finalStateUnknown: false })))
  size(byId('grid'), 1000, -1000) // makes no row visible, because drawing a row would read it
  frame()
  assert.equal(heard(), 'Live. 10 configmaps')
  type(byId('search'), 'node-p')
  frame()
  assert.equal(byId('count').textContent, '0 of 10', 'the frame that filters must not read rows')
  assert.equal(frames.length, 1, 'another frame must be requested while rows are unread')
  frame()
  assert.equal(frames.length, 1, 'another frame must be requested while rows are unread')
  assert.equal(byId('count').textContent, '4 of 10')
  assert.equal(heard(), 'Live. 10 configmaps')
  drawn()
  assert.equal(byId('count').textContent, '10 of 10')
  assert.equal(heard(), '10 of 10 match')
})

test('the page reads rows as soon as the search has the focus, and not in a frame that sorts', async (t) => {
  await boot('#/v1/configmaps')
  feed().report(live('10'), ['a', 'b'].map((name) => added(pod(name), { initial: true })))
  size(byId('grid'), 1000, -1000) // makes no row visible, because drawing a row would read it
  drawn()
  const { read } = Row.prototype
  let count = 0
  t.mock.method(Row.prototype, 'read', function (columns) {
    count++
    return read.call(this, columns)
  })
  byId('search').focus()
  assert.equal(frames.length, 1, 'the focus must request a frame')
  click(all('.head button')[1])
  frame()
  assert.equal(count, 0, 'the frame that sorts must not read rows')
  frame()
  assert.equal(count, 2)
})

test('an export contains the rows that the filter shows, without deleted objects', async (t) => {
  const deletedPod = pod('web-1')
  await bootWith('#/v1/pods?q=web&cols=name', pod('db-0'), pod('web-0'), deletedPod)
  feed().report(live('11'), [deleted(deletedPod)])
  drawn()
  assert.deepEqual(keys(), ['shop/web-0', 'shop/web-1'])
  const saved = []
  t.mock.method(URL, 'createObjectURL', (blob) => { saved.push(blob.text()); return '' })
  t.mock.method(window.HTMLAnchorElement.prototype, 'click', function () { saved.push(this.download) })
  for (const button of all('#view > button')) click(button)
  const [csv, csvName, json, jsonName] = await Promise.all(saved)
  assert.deepEqual([csv, csvName], ['"Name"\r\n"web-0"\r\n', 'pods.csv'])
  assert.deepEqual([JSON.parse(json).map(({ metadata }) => metadata.name), jsonName], [['web-0'], 'pods.json'])
})

test('the table scrolls only once to the row selected in the URL', async () => {
  const pods = Array.from({ length: 100 }, (_, i) => pod(`p${String(i).padStart(3, '0')}`))
  await bootWith('#/v1/pods?sel=shop/p090', ...pods)
  assert.equal(byId('grid').scrollTop, 91 * 28 - (280 - 30))
  byId('grid').scrollTop = 0
  feed().report(live('11'), [modified(pod('p090', '2'), pods[90])])
  drawn()
  assert.equal(byId('grid').scrollTop, 0)
})

test('the URL and the buttons filter by status, and Escape clears the filter', async () => {
  const at = (name, phase) => pod(name, '1', { status: { phase } })
  await bootWith('#/v1/pods?status=Failed', at('a', 'Running'), at('b', 'Failed'), at('c', 'Running'))
  assert.deepEqual(keys(), ['shop/b'])
  assert.equal(byId('count').textContent, '1 of 3')
  const chips = () => all('#statuses button').map((chip) => `${chip.textContent} ${chip.getAttribute('aria-pressed')}`)
  assert.deepEqual(chips(), ['Failed 1 true', 'Running 2 false'])
  click(all('#statuses button')[1])
  drawn()
  assert.equal(visited.at(-1), '#/v1/pods?status=Failed&status=Running')
  assert.deepEqual(keys(), ['shop/a', 'shop/b', 'shop/c'])
  click(all('#statuses button')[0])
  type(byId('search'), 'c')
  drawn()
  assert.deepEqual(keys(), ['shop/c'])
  assert.deepEqual(chips(), ['Running 1 true'])
  press(byId('grid'), 'Escape')
  drawn()
  assert.equal(visited.at(-1), '#/v1/pods')
  assert.deepEqual(keys(), ['shop/a', 'shop/b', 'shop/c'])
})

test('an incomplete list is sorted only at intervals', async () => {
  await boot('#/v1/pods')
  const arrive = (name) => {
    feed().report({ phase: 'listing', resourceVersion: '', lastEventAt: 0, progress: { received: 1 } }, first(pod(name)))
    frame()
  }
  clock += 200
  arrive('a')
  assert.deepEqual(keys(), ['shop/a'])
  clock += 120
  arrive('b')
  assert.deepEqual(keys(), ['shop/a'])
  clock += 1
  arrive('c')
  assert.deepEqual(keys(), ['shop/a', 'shop/b', 'shop/c'])
  arrive('d')
  feed().report(live('10'))
  frame()
  assert.deepEqual(keys(), ['shop/a', 'shop/b', 'shop/c', 'shop/d'])
})
