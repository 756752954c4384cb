// Tests in a simulated cluster that the OpenShift watch hooks behave like the hooks of the console.
import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, test } from 'node:test'
import { Window } from 'happy-dom'

const window = new Window({ url: 'http://console' })
Object.assign(globalThis, { window, document: window.document, navigator: window.navigator, location: window.location, IS_REACT_ACT_ENVIRONMENT: true })

const { act, createElement: h } = await import('react')
const { createRoot } = await import('react-dom/client')
const { createWatchHooks, useK8sWatchResource, useK8sWatchResources } = await import('../openshift.js')
const { fakeCluster } = await import('../testing.js')

const roots = []
let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(async () => {
  await act(async () => roots.splice(0).forEach((root) => root.unmount()))
  cluster.close()
})
after(() => window.happyDOM.close())

const POD = { version: 'v1', kind: 'Pod' }
const change = (f) => act(async () => f())
const pod = (key, labels) => {
  const [namespace, name] = key.split('/')
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels }, spec: { nodeName: 'n1' } }
}
const names = (data) => data.map(({ metadata }) => metadata.name).join(' ')

// Renders a component that calls `use` with its property `given`, and records the results.
async function mount(use, given) {
  const root = createRoot(document.createElement('div'))
  roots.push(root)
  const results = []
  const Shown = ({ given }) => {
    results.push(use(given))
    return null
  }
  const render = (given) => change(() => root.render(h(Shown, { given })))
  await render(given)
  return { render, results, now: () => results.at(-1) }
}

test('null starts no watch', async () => {
  const { render, now } = await mount(useK8sWatchResource, null)
  assert.deepEqual([now(), cluster.collections], [[undefined, true, undefined], 0])
  await render({ groupVersionKind: POD, isList: true })
  assert.deepEqual([now(), cluster.collections], [[[], true, undefined], 1])
})

test('a list is empty until it is loaded, and the same array is returned until the list changes', async () => {
  cluster.apply([pod('a/1'), pod('a/2')])
  const { render, results, now } = await mount(useK8sWatchResource, { groupVersionKind: POD, isList: true })
  assert.deepEqual(results[0], [[], false, undefined])
  const [data, loaded, error] = now()
  assert.deepEqual([names(data), loaded, error], ['1 2', true, undefined])
  const before = now()
  await render({ groupVersionKind: { ...POD }, isList: true })
  assert.equal(now(), before)
  await change(() => cluster.apply(pod('a/3')))
  assert.deepEqual([names(now()[0]), now()[0][0] === data[0]], ['1 2 3', true])
})

test('two components share the data of a list', async () => {
  cluster.apply(pod('a/1'))
  const one = await mount(useK8sWatchResource, { kind: 'Pod', isList: true }), two = await mount(useK8sWatchResource, { kind: 'Pod', isList: true })
  assert.equal(one.now()[0], two.now()[0])
  assert.equal(cluster.collections, 1)
})

test('a single object is null until it is loaded', async () => {
  cluster.apply(pod('a/1'))
  const { results, now } = await mount(useK8sWatchResource, { kind: 'Pod', name: '1', namespace: 'a' })
  assert.deepEqual([results[0], now()[0].metadata.name, now()[1], now()[2]], [[null, false, undefined], '1', true, undefined])
})

test('a missing object causes an error with the status 404', async () => {
  const { now } = await mount(useK8sWatchResource, { kind: 'Pod', name: '1', namespace: 'a' })
  assert.deepEqual([now()[0], now()[1], now()[2].code, now()[2].response.status], [null, false, 404, 404])
  await change(() => cluster.apply(pod('a/1')))
  assert.deepEqual([now()[0].metadata.name, now()[1], now()[2]], ['1', true, undefined])
})

test('a list that fails at first stays unloaded, and a later error keeps the data', async () => {
  cluster.reject('pods', 403)
  const { now } = await mount(useK8sWatchResource, { kind: 'Pod', isList: true })
  assert.deepEqual([now()[0], now()[1], now()[2].code, now()[2].response.status, now()[2].cause.code], [[], false, 403, 403, 'forbidden'])
  cluster.recover()
  cluster.apply(pod('a/1'))
  const later = await mount(useK8sWatchResource, { kind: 'Pod', isList: true, namespace: 'a' })
  await change(() => cluster.interrupt('no connection'))
  assert.deepEqual([names(later.now()[0]), later.now()[1], later.now()[2].message], ['1', true, 'no connection'])
})

test('an unknown kind returns a loaded result with an error', async () => {
  for (const [given, data] of [[{ kind: 'Unknown', isList: true }, []], [{ kind: 'Unknown', name: 'u' }, {}]]) {
    const { now } = await mount(useK8sWatchResource, given)
    assert.deepEqual([now()[0], now()[1], /unknown resource/.test(now()[2].message)], [data, true, true])
  }
})

for (const [resource, expected] of [
  [{ namespace: 'a' }, '1 2'],
  [{ namespace: 'a', namespaced: false }, '1 2 3'],
  [{ selector: { matchLabels: { app: 'web' } } }, '1 3'],
  [{ selector: { app: 'web' } }, '1 3'],
  [{ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'x'] }, { key: 'tier', operator: 'DoesNotExist' }] } }, '2'],
  [{ selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }, { key: 'app', operator: 'Exists' }] } }, '1 3'],
  [{ selector: { matchExpressions: [{ key: 'app', operator: 'NotEquals', values: ['db'] }, { key: 'app', operator: 'Equals', values: ['web'] }] } }, '1 3'],
  [{ fieldSelector: 'metadata.name=3' }, '3'],
  [{ limit: 1, optional: true }, '1 2 3'],
]) {
  test(`a list for ${JSON.stringify(resource)} contains ${expected}`, async () => {
    cluster.apply([pod('a/1', { app: 'web' }), pod('a/2', { app: 'db' }), pod('b/3', { app: 'web' })])
    const { now } = await mount(useK8sWatchResource, { groupVersionKind: POD, isList: true, ...resource })
    assert.equal(names(now()[0]), expected)
  })
}

test('the objects of a list have a kind and an apiVersion', async () => {
  cluster.apply({ metadata: { name: 'r', namespace: 'a' } }, { resource: 'route.openshift.io/v1/routes' })
  const { now } = await mount(useK8sWatchResource, { kind: 'route.openshift.io~v1~Route', isList: true })
  const [[route]] = now()
  assert.deepEqual([route.kind, route.apiVersion], ['Route', 'route.openshift.io/v1'])
})

test('partialMetadata loads only the metadata', async () => {
  cluster.apply(pod('a/1', { app: 'web' }))
  const { now } = await mount(useK8sWatchResource, { kind: 'Pod', isList: true, partialMetadata: true })
  assert.deepEqual([now()[0][0].metadata.labels, now()[0][0].spec], [{ app: 'web' }, undefined])
})

test('several resources are returned by key', async () => {
  cluster.apply([pod('a/1'), { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', namespace: 'a' } }])
  const { results, now } = await mount(useK8sWatchResources, {
    pods: { groupVersionKind: POD, isList: true }, deployment: { kind: 'apps~v1~Deployment', name: 'd', namespace: 'a' }, core: { kind: 'core~v1~Node', isList: true },
  })
  assert.deepEqual(results[0].pods, { data: [], loaded: false, loadError: undefined })
  const { pods, deployment, core } = now()
  assert.deepEqual([names(pods.data), pods.loaded, pods.loadError, deployment.data.metadata.name, core.data], ['1', true, undefined, 'd', []])
})

test('createWatchHooks accepts irregular plurals', async () => {
  cluster.apply({ metadata: { name: 's' } }, { resource: 'example.com/v1/sheep' })
  const hooks = createWatchHooks({ server: 'http://cluster', plurals: { 'example.com~Sheep': 'sheep' } })
  const { now } = await mount(hooks.useK8sWatchResource, { groupVersionKind: { group: 'example.com', version: 'v1', kind: 'Sheep' }, isList: true })
  assert.equal(names(now()[0]), 's')
})
