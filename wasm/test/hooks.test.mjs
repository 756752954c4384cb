// Tests the results of the React hooks with a happy-dom document and a simulated cluster.
import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, test } from 'node:test'
import { Window } from 'happy-dom'

const window = new Window()
Object.assign(globalThis, { window, document: window.document, navigator: window.navigator, IS_REACT_ACT_ENVIRONMENT: true })

const { StrictMode, act, createElement: h } = await import('react')
const { createRoot } = await import('react-dom/client')
const { renderToString } = await import('react-dom/server')
const { useListWatch, useListWatches, useObject } = await import('../react.js')
const { fakeCluster } = await import('../testing.js')
const { INTERRUPTED, encode } = await import('../records.js')

const roots = []
let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(async () => {
  await act(async () => roots.splice(0).forEach((root) => root.unmount()))
  cluster.close()
})
after(() => window.happyDOM.close())

const pod = (key, more) => {
  const [namespace, name] = key.split('/')
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, ...more }
}
const node = (name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
const pods = (more) => ({ server: 'http://cluster', resource: 'pods', ...more })
const keys = ({ items }) => items.map(({ key }) => key).join(' ')
const change = (f) => act(async () => f())

// Renders a component that calls `use` with its property `given`, and records the results.
async function mount(use, given) {
  const root = createRoot(document.createElement('div'))
  roots.push(root)
  const results = []
  const Shown = ({ given }) => {
    results.push(use(given))
    return null
  }
  const render = (given) => change(() => root.render(h(StrictMode, null, h(Shown, { given }))))
  await render(given)
  return { render, results, now: () => results.at(-1), unmount: () => change(() => root.unmount()) }
}

test('a result contains the items and the state, and the same result is returned until one of them changes', async () => {
  cluster.apply([pod('a/2'), pod('a/1')])
  const { render, results, now } = await mount(useListWatch, pods())
  assert.deepEqual([keys(results[0]), results[0].loaded, results[0].state.phase, results[0].error], ['', false, 'waiting', undefined])
  const shown = now()
  assert.deepEqual([keys(shown), shown.size, shown.loaded, shown.state.synced, shown.state.phase, shown.error, shown.errors], ['a/1 a/2', 2, true, true, 'live', undefined, {}])
  assert.equal(shown.items, shown.list())
  await render(pods())
  assert.equal(now(), shown)
  await change(() => cluster.apply(pod('a/3')))
  assert.deepEqual([keys(now()), keys(shown)], ['a/1 a/2 a/3', 'a/1 a/2'])
})

test('an interruption sets error and keeps the items', async () => {
  cluster.apply(pod('a/1'))
  const { now } = await mount(useListWatch, pods())
  await change(() => cluster.interrupt('no connection'))
  assert.deepEqual([keys(now()), now().loaded, now().state.phase, now().error.message, now().errors], ['a/1', true, 'stale', 'no connection', { '': now().error }])
  await change(() => cluster.recover())
  assert.deepEqual([keys(now()), now().state.phase, now().error], ['a/1', 'live', undefined])
})

test('loaded stays false if the first list fails', async () => {
  cluster.reject('pods', 403)
  const { now } = await mount(useListWatch, pods())
  assert.deepEqual([now().loaded, now().error.code, now().state.phase], [false, 'forbidden', 'stopped'])
})

test('null opens no collection', async () => {
  const { render, now } = await mount(useListWatch, null)
  assert.deepEqual([now().loaded, now().items, cluster.collections], [false, [], 0])
  await render(pods())
  assert.deepEqual([now().loaded, cluster.collections], [true, 1])
})

test('a collection stays open for the keepAlive time after its last component unmounts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  cluster.apply(pod('a/1'))
  for (const [given, wait] of [[pods(), 5000], [pods({ keepAlive: 60_000 }), 60_000], [pods({ keepAlive: 0 }), 0]]) {
    const first = await mount(useListWatch, given)
    await first.unmount()
    if (wait) t.mock.timers.tick(wait - 1)
    assert.equal(cluster.collections, 1)
    const second = await mount(useListWatch, given)
    assert.deepEqual([keys(second.results[0]), second.results[0].loaded], ['a/1', true]) // the first render already contains the objects
    t.mock.timers.tick(wait + 1)
    assert.equal(cluster.collections, 1)
    await second.unmount()
    t.mock.timers.tick(wait + 1)
    assert.equal(cluster.collections, 0)
  }
})

test('a component does not reuse a collection that failed after the previous component unmounted', async () => {
  const first = await mount(useListWatch, pods())
  await first.unmount()
  cluster.close()
  cluster = fakeCluster()
  cluster.apply(pod('a/1'))
  const { now } = await mount(useListWatch, pods())
  assert.deepEqual([keys(now()), now().error], ['a/1', undefined])
})

test('keepPrevious shows the previous objects as stale until the new list is complete', async () => {
  cluster.apply([pod('a/1'), pod('b/2')])
  const given = (namespace, keepPrevious) => pods({ namespace, keepPrevious })
  const { render, results, now } = await mount(useListWatch, given('a', true))
  results.length = 0
  await render(given('b', true))
  assert.deepEqual([keys(results[0]), results[0].loaded, results[0].state.phase], ['a/1', true, 'stale'])
  assert.deepEqual([keys(now()), now().state.phase], ['b/2', 'live'])
  results.length = 0
  await render(given('a', false))
  assert.equal(keys(results.at(-1)), 'a/1')
  await change(() => cluster.reject('pods', 403))
  await render(given('c', true))
  assert.deepEqual([keys(now()), now().loaded, now().error.code], ['', false, 'forbidden'])
})

test('with keepPrevious, an index that the previous options lack is empty until the new list is complete', async () => {
  cluster.apply(pod('a/1'))
  const given = (index, path) => pods({ indexes: { [index]: path }, keepPrevious: true })
  const { render, results, now } = await mount(useListWatch, given('name', 'metadata.name'))
  results.length = 0
  await render(given('space', 'metadata.namespace'))
  assert.deepEqual([keys(results[0]), results[0].by('space', 'a'), results[0].by('name', '1').length], ['a/1', [], 1])
  assert.equal(now().by('space', 'a').length, 1)
  assert.throws(() => now().by('name', '1'), { code: 'invalid', message: /there is no index "name"/ })
})

test('without keepPrevious, new options begin with an empty list', async () => {
  cluster.apply([pod('a/1'), pod('b/2')])
  const { render, results, now } = await mount(useListWatch, pods({ namespace: 'a' }))
  results.length = 0
  await render(pods({ namespace: 'b' }))
  assert.deepEqual([keys(results[0]), results[0].loaded, keys(now())], ['', false, 'b/2'])
})

test('objects from several namespaces are merged into one sorted list', async () => {
  cluster.apply([pod('a/1'), pod('a-b/1'), pod('b/1'), pod('c/1')])
  const given = (...namespaces) => pods({ namespaces, indexes: { name: 'metadata.name' } })
  const { render, now } = await mount(useListWatch, given('b', 'a', 'a-b', 'a'))
  assert.deepEqual([keys(now()), now().size, now().loaded, now().state.phase], ['a-b/1 a/1 b/1', 3, true, 'live'])
  assert.deepEqual([now().get('b/1').metadata.name, now().item('c/1'), now().by('name', '1').length], ['1', undefined, 3])
  assert.equal(now().items, now().items)
  assert.equal(cluster.collections, 3)
  const shown = now()
  await change(() => cluster.apply([pod('c/2')]))
  assert.equal(now(), shown)
  await render(given())
  assert.deepEqual([keys(now()), now().loaded, now().state.phase, now().error], ['', true, 'live', undefined])
})

test('a failed namespace does not affect the other namespaces', async () => {
  cluster.apply(pod('a/1'))
  cluster.reject('pods', 403, { namespace: 'b' })
  const { render, now } = await mount(useListWatch, pods({ namespaces: ['a', 'b'] }))
  assert.deepEqual([keys(now()), now().loaded, now().state.phase], ['a/1', true, 'live'])
  assert.deepEqual([Object.keys(now().errors), now().error], [['b'], now().errors.b])
  await change(() => cluster.interrupt())
  assert.deepEqual([Object.keys(now().errors), now().error.code, now().loaded, now().state.phase], [['a', 'b'], 'network', true, 'stale'])
  await render(pods({ namespaces: ['a', 'b'], resource: 'podz' }))
  assert.deepEqual([Object.keys(now().errors), now().error.code, now().loaded, now().state.phase], [['a', 'b'], 'invalid', false, 'stopped'])
})

test('useObject follows a single object', async () => {
  const { now, results } = await mount(useObject, pods({ namespace: 'a', name: '1' }))
  const { retry } = now()
  assert.equal(typeof retry, 'function')
  assert.deepEqual(now(), { object: undefined, loaded: true, error: undefined, phase: 'live', retry })
  assert.deepEqual([results[0].object, results[0].loaded, results[0].error, results[0].phase], [undefined, false, undefined, 'waiting'])
  await change(() => cluster.apply([pod('a/1', { spec: { nodeName: 'n1' } }), pod('a/2')]))
  assert.equal(now().object.spec.nodeName, 'n1')
  const shown = now()
  await change(() => cluster.apply(pod('a/2')))
  assert.equal(now(), shown)
  await change(() => cluster.delete(pod('a/1')))
  assert.deepEqual([now().object, now().loaded], [undefined, true])
})

test('retry() opens a failed collection again, and is the same function in every render', async () => {
  for (const use of [useListWatch, useObject]) {
    cluster.reject('pods', 403)
    const { now } = await mount(use, pods({ namespace: use.name, name: '1' }))
    const { retry, error } = now()
    assert.equal(error.code, 'forbidden')
    await change(() => cluster.recover())
    assert.equal(now().loaded, false)
    await change(retry)
    assert.deepEqual([now().loaded, now().error, now().retry], [true, undefined, retry])
  }
})

test('a component that mounts retries a failed collection, at most once per second', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 })
  cluster.reject('pods', 403)
  const first = await mount(useListWatch, pods())
  await change(() => cluster.recover())
  t.mock.timers.tick(999)
  const early = await mount(useListWatch, pods())
  assert.equal(early.now().state.phase, 'stopped')
  t.mock.timers.tick(1)
  const late = await mount(useListWatch, pods())
  for (const { now } of [first, early, late]) assert.equal(now().state.phase, 'live')
})

// Lets a test see the client of each collection that the fake cluster opens.
function onOpen(f) {
  const { [Symbol.for('listwatch/testing')]: link } = globalThis, { open } = link
  link.open = (spec, client) => {
    f(client, spec)
    return open(spec, client)
  }
}

for (const [words, next] of [['the same token function', (token) => token], ['a new token function', (token) => () => token()]]) {
  test(`a failed collection tries again when ${words} returns another token, and not after every render`, async () => {
    cluster.reject('pods', 401)
    let word = 'old', asked = 0, opens = 0
    onOpen((client) => {
      opens++
      client.token().then((token) => token === 'new' && cluster.recover()) // the fake cluster does not ask for tokens itself
    })
    const token = () => (asked++, word)
    const { render, now } = await mount(useListWatch, pods({ token }))
    assert.deepEqual([now().error.code, opens], ['unauthorized', 1])
    for (let i = 0; i < 3; i++) await render(pods({ token: next(token) }))
    assert.deepEqual([now().error.code, opens], ['unauthorized', 1])
    assert.ok(asked > 1)
    word = 'new'
    cluster.recover()
    await render(pods({ token: next(token) }))
    assert.deepEqual([now().error, now().state.phase, opens], [undefined, 'live', 2])
  })
}

test('the state shows that the watch of any namespace takes turns, which is not an error', async () => {
  const clients = {}
  onOpen((client, { namespace }) => { clients[namespace] = client })
  const { now } = await mount(useListWatch, pods({ namespaces: ['a', 'b'] }))
  await change(() => clients.b.records(encode([[INTERRUPTED, 'turns', 'watches take turns', '', '', '0', '']])))
  assert.deepEqual([now().state.phase, now().state.cause.code, now().error], ['live', 'turns', undefined])
})

test('throttle limits how often a component renders, but shows a new phase at once', async (t) => {
  cluster.apply(pod('a/0'))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const throttled = await mount(useListWatch, pods({ throttle: 500 })), free = await mount(useListWatch, pods())
  await change(() => t.mock.timers.tick(500))
  const renders = () => [throttled, free].map(({ results }) => new Set(results).size)
  const before = renders()
  for (let i = 1; i <= 20; i++) {
    await change(() => cluster.apply(pod(`a/${i}`)))
    await change(() => t.mock.timers.tick(100))
  }
  assert.deepEqual(renders().map((n, i) => n - before[i]), [5, 20], 'the first change is shown at once, and the others every 500 ms')
  assert.deepEqual([throttled.now().size, free.now().size], [21, 21])
  await change(() => cluster.apply(pod('a/last')))
  await change(() => cluster.interrupt())
  assert.deepEqual([throttled.now().size, throttled.now().state.phase], [22, 'stale'])
  assert.equal(cluster.collections, 1, 'components with another throttle share the collection')
})

test('an invalid duration is an error, and does not affect other components', async () => {
  const valid = await mount(useListWatch, pods({ keepAlive: 0 }))
  for (const options of [{ keepAlive: 'x' }, { throttle: -1 }]) {
    const { now } = await mount(useListWatch, pods(options))
    assert.deepEqual([now().error.code, now().error.message], ['invalid', `listwatch: ${Object.keys(options)} must be a number of milliseconds`])
  }
  assert.equal(valid.now().state.phase, 'live')
})

test('useObject rejects a missing name', async () => {
  cluster.apply(pod('a/1'))
  for (const name of ['', undefined]) {
    const { now } = await mount(useObject, pods({ namespace: 'a', name }))
    assert.deepEqual([now().object, now().loaded, now().error.code, now().error.message], [undefined, false, 'invalid', 'listwatch: name must be a string that is not empty'])
  }
})

test('useListWatches without options returns no lists', async () => {
  const { now } = await mount(useListWatches, undefined)
  assert.deepEqual(now(), {})
})

test('useListWatches follows several collections and supports changing keys', async () => {
  cluster.apply([pod('a/1'), node('n1')])
  const { render, now } = await mount(useListWatches, { pods: pods(), nodes: pods({ resource: 'nodes' }), nothing: null })
  assert.deepEqual([keys(now().pods), keys(now().nodes), now().nothing.loaded], ['a/1', 'n1', false])
  const { pods: shown } = now()
  await change(() => cluster.apply(node('n2')))
  assert.deepEqual([keys(now().nodes), now().pods === shown], ['n1 n2', true])
  await render({ nodes: pods({ resource: 'nodes' }) })
  assert.deepEqual(Object.keys(now()), ['nodes'])
})

test('a server renders empty lists', () => {
  const Shown = () => {
    const { pods: list } = useListWatches({ pods: pods() })
    const { object, loaded } = useObject(pods({ name: '1' }))
    return JSON.stringify([list.items, list.by('x', 'y'), list.state.phase, object ?? null, loaded])
  }
  assert.equal(renderToString(h(Shown)).replaceAll('&quot;', '"'), '[[],[],"waiting",null,false]')
})
