import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import './support/package.js'
import { byId, reload, texts, textOf, turn, window } from './support/page.js'
import { opened } from './support/listwatch.js'

const { Session } = await import('../session.js')

const collection = (resource) => ({ resource, verbs: ['list', 'watch'], scope: 'Namespaced', responseKind: { kind: resource } })
const discovery = (...names) => Response.json({ kind: 'APIGroupDiscoveryList', items: [{ metadata: {}, versions: [{ version: 'v1', resources: names.map(collection) }] }] })
const refusal = (status) => Response.json({ message: 'no' }, { status })
const away = () => { throw new TypeError('away') }

mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 })
globalThis.fetch = async (url, { headers }) => {
  requests.push([url, headers.Authorization])
  return url.endsWith('/api') ? answer() : Response.json({ kind: 'APIGroupDiscoveryList' })
}
let answer, requests, log, page, session
const calls = () => log.splice(0)
// Creates a session. `answer` returns the response for /api. The response for /apis is empty.
function begin(feed) {
  page = {
    feed, leave: () => { log.push('leave'); page.feed = undefined }, show: () => { log.push('show'); page.feed ??= { state: { phase: 'live' } } },
    showNamespaces: (names) => log.push(['namespaces', names]), draw: () => log.push('draw'),
  }
  session = new Session(page)
}
const settle = async () => { for (let i = 0; i < 5; i++) await turn() }
const plurals = () => session.resources.map(({ plural }) => plural).join(' ')
const line = (kind) => textOf(`#notices [data-kind="${kind}"] span`)
const heard = () => { mock.timers.tick(10_000); return byId('announcer').textContent }

afterEach(() => { // the next test must not receive retries
  answer = () => new Promise(() => {})
  session.connect()
})
beforeEach(() => {
  reload()
  localStorage.clear()
  window.happyDOM.setURL('http://page.example/')
  opened.length = 0
  requests = []
  log = []
  answer = () => discovery('pods')
})

test('a session loads the collections and watches the namespaces', async () => {
  begin()
  session.connect()
  assert.equal(byId('server-name').textContent, 'page.example')
  await settle()
  assert.deepEqual(requests.map(([url]) => url).sort(), ['http://page.example/api', 'http://page.example/apis'])
  assert.deepEqual([plurals(), calls(), session.waiting], ['pods', ['leave', 'show'], undefined])
  assert.deepEqual(opened.map(({ options }) => options.resource), ['v1/namespaces'])
  opened[0].items = [{ name: 'shop' }]
  opened[0].report({ phase: 'live' })
  assert.deepEqual(calls(), [['namespaces', ['shop']]])
  assert.equal(line('namespaces'), undefined)
})

test('a notice is shown while the namespaces cannot be watched', async () => {
  begin()
  session.connect()
  await settle()
  calls()
  opened[0].report({ phase: 'stopped', cause: { code: 'forbidden', message: 'listwatch: user ann may not' } })
  assert.equal(line('namespaces'), 'The namespaces are not watched. Not allowed: user ann may not')
  assert.deepEqual(calls(), [['namespaces', null]])
  opened[0].report({ phase: 'live' })
  assert.equal(line('namespaces'), undefined)
})

test('if the server does not respond, the page still opens the collection, so that the collection reports the cause', async () => {
  begin()
  answer = away
  session.connect()
  await settle()
  assert.deepEqual(calls(), ['leave', 'show'])
  assert.equal(session.waiting, undefined)
})

test('the page shows an error about a malformed response until discovery succeeds', async () => {
  begin()
  answer = () => Response.json({ kind: 'Greeting' })
  session.connect()
  await settle()
  assert.deepEqual(calls(), ['leave', 'draw'])
  const { phase, cause, retryAt } = session.waiting
  assert.deepEqual([phase, cause.code, retryAt], ['waiting', 'malformed', Date.now() + 1000])
  answer = () => discovery('pods')
  mock.timers.tick(1000)
  await settle()
  assert.deepEqual([session.waiting, plurals(), calls()], [undefined, 'pods', ['show']])
})

test('a notice about a failed discovery is shown only if the collection is not interrupted', async () => {
  localStorage.setItem('listwatch-collections', JSON.stringify({ server: 'http://page.example', resources: [{ plural: 'pods' }] }))
  begin()
  answer = away
  session.connect()
  assert.equal(plurals(), 'pods')
  await settle()
  assert.equal(session.waiting, undefined)
  assert.equal(line('collections'), 'The menu may be out of date: the server did not answer: away')
  assert.deepEqual(calls(), ['leave', 'show', 'draw'])
  reload()
  session.connect()
  page.feed = { state: { phase: 'stale' } }
  await settle()
  assert.deepEqual([line('collections'), session.waiting], [undefined, undefined])
})

test('a storage failure shows a notice', async (t) => {
  const storage = globalThis.localStorage
  globalThis.localStorage = { getItem: () => null, setItem() { throw new Error('no room') } }
  t.after(() => { globalThis.localStorage = storage })
  begin()
  session.connect()
  await settle()
  assert.equal(line('storage'), 'The next visit must wait for the server because the browser cannot save data: no room')
})

for (const [status, code] of [[401, 'unauthorized'], [403, 'forbidden']]) {
  test(`after a ${status} response, the page asks for a token`, async () => {
    begin({ state: { phase: 'live' } })
    answer = () => refusal(status)
    session.load()
    await settle()
    assert.deepEqual(calls(), ['leave', 'draw'])
    assert.deepEqual(session.waiting, { phase: 'stopped', cause: { code, message: `the server answered ${status}: no` } })
    assert.equal(byId('connect').open, true)
    assert.equal(byId('connect-why').textContent, `the server answered ${status}: no`)
  })
}

test('changing the server replaces the notices and namespaces', async () => {
  begin()
  session.connect()
  await settle()
  opened[0].report({ phase: 'stopped', cause: { code: 'forbidden', message: 'no' } })
  answer = () => refusal(503)
  session.refresh()
  await settle()
  assert.equal(texts('#notices li').length, 2)
  session.change()
  assert.equal(byId('connect-why').hidden, true)
  byId('connect-server').value = 'https://other.example'
  byId('connect-token').value = 'secret'
  let reply
  answer = () => new Promise((resolve) => { reply = resolve })
  requests = []
  calls()
  byId('connect').close('connect')
  await turn()
  assert.deepEqual(texts('#notices li'), [])
  assert.equal(opened[0].closed, true)
  await settle()
  reply(discovery('nodes'))
  await settle()
  assert.deepEqual(session.link, { server: 'https://other.example', token: 'secret' })
  assert.equal(location.search, '?server=https%3A%2F%2Fother.example')
  assert.equal(byId('server-name').textContent, 'other.example')
  assert.deepEqual(requests.sort(), [['https://other.example/api', 'Bearer secret'], ['https://other.example/apis', 'Bearer secret']])
  assert.deepEqual([calls(), plurals(), opened.length], [['leave', 'show'], 'nodes', 2])
  assert.deepEqual(opened[1].options.server, 'https://other.example')
})

test('connecting to a server clears the status of the previous server', async () => {
  begin()
  answer = () => Response.json({ kind: 'Greeting' })
  session.connect()
  await settle()
  assert.ok(session.waiting)
  answer = () => new Promise(() => {})
  session.connect()
  assert.equal(session.waiting, undefined)
})

test('canceling the dialog keeps the current server', async () => {
  begin()
  session.connect()
  await settle()
  calls()
  session.change('why')
  assert.equal(byId('connect-why').textContent, 'why')
  byId('connect').close()
  await settle()
  assert.deepEqual([calls(), session.link.server, opened[0].closed], [[], 'http://page.example', false])
})

test('a refresh announces whether the collections have changed', async () => {
  begin()
  session.connect()
  await settle()
  calls()
  session.refresh()
  await settle()
  assert.equal(heard(), 'The collections have not changed')
  assert.deepEqual(calls(), [], 'the feed must stay open')
  answer = () => discovery('pods', 'nodes')
  session.refresh()
  await settle()
  assert.equal(heard(), 'The collections have changed')
  assert.deepEqual([plurals(), calls(), opened.length], ['pods nodes', ['show'], 1])
})

test('a failed refresh shows a notice until a refresh succeeds', async () => {
  begin()
  session.connect()
  await settle()
  answer = () => refusal(503)
  session.refresh()
  await settle()
  assert.equal(line('collections'), 'The menu may be out of date: the server answered 503: no')
  answer = () => discovery('pods')
  session.refresh()
  await settle()
  assert.equal(line('collections'), undefined)
})

test('a failed quiet refresh shows a notice only if the page is live', async () => {
  begin()
  session.connect()
  await settle()
  answer = () => refusal(503)
  page.feed = { state: { phase: 'stale' } }
  session.refreshQuietly()
  await settle()
  assert.equal(line('collections'), undefined)
  page.feed = undefined
  session.refreshQuietly()
  await settle()
  assert.equal(line('collections'), undefined)
  page.feed = { state: { phase: 'live' } }
  session.refreshQuietly()
  await settle()
  assert.equal(line('collections'), 'The menu may be out of date: the server answered 503: no')
  assert.equal(heard(), line('collections'))
})

test('a throttled refresh is skipped soon after another refresh', async () => {
  begin()
  session.connect()
  await settle()
  session.refreshQuietly()
  await settle()
  requests = []
  session.refreshQuietly(true)
  await settle()
  assert.equal(requests.length, 0)
  session.refreshQuietly()
  await settle()
  assert.equal(requests.length, 2)
})

test('unchanged collections are shown again if the page has no feed', async () => {
  begin()
  session.connect()
  await settle()
  calls()
  page.feed = undefined
  session.refreshQuietly()
  await settle()
  assert.deepEqual(calls(), ['show'])
})
