import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import './support/package.js'
import './support/page.js'
import { ListWatchError, added, calls, deleted, item, live, modified, opened } from './support/listwatch.js'

const { Feed } = await import('../feed.js')

const link = { server: 'http://host', token: '' }
const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true, shortNames: [] }
const pod = (resourceVersion, more, name = 'web') => item({ metadata: { name, namespace: 'shop' }, ...more }, resourceVersion)

let told
beforeEach(() => {
  opened.length = 0
  told = 0
})
const feedOf = ({ resource = pods, namespace = '', to = link } = {}) => new Feed(to, resource, namespace, () => told++)
const optionsOf = (how) => {
  feedOf(how)
  return opened.at(-1).options
}

test('a feed requests the fields of its columns', () => {
  const { project, ...options } = optionsOf()
  assert.deepEqual(options, { server: 'http://host', resource: 'v1/pods', persist: true })
  assert.ok(project.includes('status.phase') && project.includes('metadata.labels'))
  assert.equal(optionsOf({ resource: { ...pods, group: 'apps', plural: 'deployments' } }).resource, 'apps/v1/deployments')
})

test('only namespaced collections use the selected namespace', () => {
  assert.equal(optionsOf({ namespace: 'shop' }).namespace, 'shop')
  assert.equal('namespace' in optionsOf({ namespace: 'shop', resource: { ...pods, plural: 'nodes', namespaced: false } }), false)
  assert.deepEqual(feedOf({ namespace: 'shop' }).columns.map(({ id }) => id)[0], 'name')
  assert.deepEqual(feedOf().columns.map(({ id }) => id)[0], 'namespace')
})

test('a collection with a token is not saved', () => {
  const { token, persist } = optionsOf({ to: { server: 'http://host', token: 'secret' } })
  assert.deepEqual({ token, persist }, { token: 'secret', persist: false })
})

test('Secrets are not saved and their values are not requested', () => {
  const { persist, project } = optionsOf({ resource: { ...pods, plural: 'secrets' } })
  assert.equal(persist, false)
  assert.deepEqual(project, ['metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'metadata.ownerReferences', 'type', 'immutable'])
  assert.equal(feedOf({ resource: { ...pods, plural: 'secrets' } }).versionsOf({ key: 'a', item: pod('1') }), undefined)
})

test('the events for a row are watched until another row is shown or the feed closes', () => {
  const feed = feedOf({ to: { server: 'http://host', token: 'secret' } }), row = (one) => ({ key: one.key, item: one })
  assert.deepEqual(feed.eventsOf(row(pod('1'))), { items: [], listed: false })
  const events = opened[1], { project, ...options } = events.options
  assert.deepEqual(options, { server: 'http://host', resource: 'v1/events', fieldSelector: 'involvedObject.kind=Pod,involvedObject.name=web', namespace: 'shop', token: 'secret' })
  assert.ok(project.includes('reason'))
  events.items = ['one']
  events.report(live('5'))
  assert.equal(told, 1)
  assert.deepEqual(feed.eventsOf(row(pod('2'))), { items: ['one'], listed: true, cause: undefined })
  assert.deepEqual(feed.eventsOf(row(pod('1', {}, 'db'))), { items: [], listed: false })
  assert.deepEqual([events.closed, events.report(live('6')), opened[2].closed], [true, 0, false])
  feed.eventsOf({ key: 'n1', item: { namespace: '', name: 'n1' } })
  assert.equal('namespace' in opened[3].options, false)
  feed.close()
  assert.equal(opened[3].closed, true)
})

test('changes update the rows, the history and the rate, and are reported', (t) => {
  const now = 1_000_000_000
  t.mock.timers.enable({ apis: ['Date'], now })
  const feed = feedOf(), [collection] = opened, one = pod('1'), two = pod('2', { n: 2 })
  assert.deepEqual(feed.state.phase, 'waiting')
  collection.report(live('10'), [added(one, { initial: true }), added(pod('1', {}, 'db'), { initial: true })])
  assert.deepEqual([feed.rows.size, told, feed.history.of('shop/web').length], [2, 1, 0])
  assert.equal(feed.rate.list(now).at(-1), 0, 'objects from the first list must not count as changes')
  assert.equal(feed.state.resourceVersion, '10')
  collection.report(live('20'), [modified(two, one)])
  collection.report(live('30'), [deleted(two)])
  assert.deepEqual(feed.history.of('shop/web').map(({ change, at, before, after }) => [change.type, at, before, after]),
    [['deleted', now, '20', '30'], ['modified', now, '10', '20']])
  assert.equal(feed.rate.list(now).at(-1), 2)
  assert.deepEqual([feed.rows.get('shop/web').gone, feed.rows.get('shop/web').mark.at, told], [true, now, 3])
})

test('the state and the rows change together', () => {
  const feed = feedOf()
  opened[0].state = live('10')
  assert.deepEqual([feed.state.phase, feed.rows.size], ['waiting', 0])
  opened[0].report(live('10'), [added(pod('1'), { initial: true })])
  assert.deepEqual([feed.state.phase, feed.rows.size], ['live', 1])
})

test('the resourceVersion before the first change is unknown', () => {
  const feed = feedOf()
  opened[0].report({ phase: 'listing', lastEventAt: 0 }, [added(pod('1'))])
  assert.deepEqual(feed.history.of('shop/web').map(({ before, after }) => [before, after]), [['', '']])
})

test('a new state is reported even without changes', () => {
  const feed = feedOf()
  opened[0].report(live('10'))
  assert.deepEqual([told, feed.state.phase], [1, 'live'])
})

test('a feed for a resource that the server does not offer stops and reports the cause', () => {
  const feed = feedOf({ resource: { ...pods, version: '', plural: 'nosuch' } })
  assert.equal(opened.length, 0)
  assert.deepEqual(feed.state, { phase: 'stopped', cause: { code: 'not-found', message: 'the server does not offer "nosuch"' }, resourceVersion: '', lastEventAt: 0 })
  assert.equal(feed.rows.size, 0)
  feed.close()
})

test('a feed with invalid options stops and reports the cause, and other errors are thrown', () => {
  calls.refuse = new ListWatchError('invalid', 'bad namespace')
  assert.equal(feedOf().state.cause.message, 'bad namespace')
  calls.refuse = new TypeError('a defect')
  assert.throws(() => feedOf(), TypeError)
})

test('close() closes the collection and cancels the requests of the details pane', (t) => {
  let signal
  t.mock.method(globalThis, 'fetch', (url, how) => { signal = how.signal; return new Promise(() => {}) })
  const feed = feedOf()
  feed.versionsOf({ key: 'shop/web', item: pod('1') }).at('1', { current: true })
  assert.equal(signal.aborted, false)
  feed.close()
  assert.equal(signal.aborted, true)
  assert.equal(opened[0].closed, true)
})

test('requests for the full object of a row continue until another row is shown', (t) => {
  const urls = []
  t.mock.method(globalThis, 'fetch', (url, { signal, headers }) => { urls.push([url, signal, headers]); return new Promise(() => {}) })
  const feed = feedOf({ to: { server: 'http://host', token: 'secret' } }), row = { key: 'shop/web', item: pod('1') }
  const first = feed.versionsOf(row)
  first.at('1', { current: true })
  assert.equal(feed.versionsOf({ ...row, item: pod('2') }), first)
  assert.equal(urls[0][0], 'http://host/api/v1/namespaces/shop/pods/web')
  assert.equal(urls[0][2].Authorization, 'Bearer secret')
  const other = feed.versionsOf({ key: 'shop/db', item: pod('1', {}, 'db') })
  assert.notEqual(other, first)
  assert.equal(urls[0][1].aborted, true)
  other.at('1', { current: true })
  assert.equal(urls[1][0], 'http://host/api/v1/namespaces/shop/pods/db')
})

test('the arrival of a full object is reported', async (t) => {
  const answered = new Promise((resolve) => {
    t.mock.method(globalThis, 'fetch', async () => Response.json(pod('1').object))
    const feed = new Feed(link, pods, '', resolve)
    feed.versionsOf({ key: 'shop/web', item: pod('1') }).at('1', { current: true })
  })
  await answered
})

test('full objects are requested again after a reconnect', () => {
  const feed = feedOf(), [collection] = opened, row = { key: 'shop/web', item: pod('1') }
  collection.report(live('10'))
  const first = feed.versionsOf(row)
  collection.report(live('11'))
  assert.equal(feed.versionsOf(row), first)
  collection.report({ ...live('11'), phase: 'stale' })
  assert.equal(feed.versionsOf(row), first)
  first.newest = pod('1').object
  collection.report(live('12'))
  assert.notEqual(feed.versionsOf(row), first)
  assert.equal(feed.versionsOf(row).newest, first.newest, 'the previous full object must remain visible after a reconnect')
  assert.equal(feed.versionsOf({ key: 'shop/db', item: pod('1', {}, 'db') }).newest, undefined)
})
