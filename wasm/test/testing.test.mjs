// Tests the simulated cluster of listwatch/testing.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { ListWatchError, init, listWatch } from '../index.js'
import { fakeCluster } from '../testing.js'

let cluster
beforeEach(() => { cluster = fakeCluster() })
afterEach(() => cluster.close())

const pod = (key, labels, more) => {
  const [namespace, name] = key.split('/')
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels }, ...more }
}
const open = (options) => listWatch({ server: 'http://cluster', ...options })
const keys = (collection) => collection.list().map(({ key }) => key).join(' ')
const settled = () => new Promise(setImmediate)

async function listed(options) {
  const collection = open(options)
  await collection.synced
  return keys(collection)
}

test('a collection lists the objects and follows their changes in batches', async () => {
  cluster.apply(pod('a/1'))
  const pods = open({ resource: 'pods', indexes: { node: 'spec.nodeName' } })
  await pods.synced
  const batches = []
  pods.subscribe((changes) => batches.push(changes.map(({ type, key }) => `${type} ${key}`).join()))
  cluster.apply([pod('a/1', {}, { spec: { nodeName: 'n1' } }), pod('b/2')])
  assert.deepEqual([batches, keys(pods), pods.by('node', 'n1').length], [['modified a/1,added b/2'], 'a/1 b/2', 1])
  cluster.delete(pod('a/1'))
  assert.deepEqual([batches.at(-1), keys(pods), pods.size], ['deleted a/1', 'b/2', 1])
  const { metadata } = pods.get('b/2')
  assert.deepEqual([metadata.uid !== '', metadata.resourceVersion, pods.state.phase], [true, '3', 'live'])
})

test('the cluster copies objects and preserves their UIDs', async () => {
  const object = pod('a/1', { app: 'web' })
  cluster.apply(object)
  object.metadata.labels.app = 'changed'
  const pods = open({ resource: 'pods' })
  await pods.synced
  const { metadata: { uid, labels } } = pods.get('a/1')
  assert.equal(labels.app, 'web')
  cluster.apply(object)
  assert.deepEqual([pods.get('a/1').metadata.uid, pods.get('a/1').metadata.labels.app], [uid, 'changed'])
  assert.deepEqual(Object.keys(object.metadata), ['namespace', 'name', 'labels'])
})

for (const [options, expected] of [
  [{ resource: 'pods' }, 'a/1 a/2 b/1'],
  [{ resource: 'pods', namespace: 'a' }, 'a/1 a/2'],
  [{ resource: 'pods', namespace: 'a', name: '2' }, 'a/2'],
  [{ path: '/api/v1/pods' }, 'a/1 a/2 b/1'],
  [{ path: '/api/v1/namespaces/b/pods' }, 'b/1'],
  [{ resource: 'pods', labelSelector: 'app=web' }, 'a/1 b/1'],
  [{ resource: 'pods', labelSelector: 'app==web,tier != back' }, 'a/1'],
  [{ resource: 'pods', labelSelector: 'app!=web' }, 'a/2'],
  [{ resource: 'pods', labelSelector: 'app in (web, db),tier' }, 'b/1'],
  [{ resource: 'pods', labelSelector: 'app notin (web),!tier' }, 'a/2'],
  [{ resource: 'pods', fieldSelector: 'spec.nodeName=n1' }, 'a/1'],
  [{ resource: 'pods', fieldSelector: 'spec.nodeName!=n1,metadata.namespace==a' }, 'a/2'],
  [{ path: '/apis/example.com/v1/namespaces/a/policies' }, 'a/p'],
  [{ resource: 'example.com/v1/policies' }, 'a/p'],
  [{ resource: 'endpoints' }, 'a/e'],
  [{ resource: 'ingresses' }, 'a/i'],
  [{ resource: 'nodes' }, 'n1'],
  [{ resource: 'v1/podmetrics' }, 'a/m'],
]) {
  test(`a collection with ${JSON.stringify(options)} shows ${expected}`, async () => {
    cluster.apply([
      pod('a/1', { app: 'web' }, { spec: { nodeName: 'n1' } }), pod('a/2', { app: 'db' }), pod('b/1', { app: 'web', tier: 'back' }),
      { apiVersion: 'example.com/v1', kind: 'Policy', metadata: { namespace: 'a', name: 'p' } },
      { apiVersion: 'v1', kind: 'Endpoints', metadata: { namespace: 'a', name: 'e' } },
      { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { namespace: 'a', name: 'i' } },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    ])
    cluster.apply({ metadata: { namespace: 'a', name: 'm' } }, { resource: 'v1/podmetrics' })
    assert.equal(await listed(options), expected)
  })
}

test('an object that no longer matches the selector is deleted', async () => {
  cluster.apply(pod('a/1', { app: 'web' }))
  const pods = open({ resource: 'pods', labelSelector: 'app=web' })
  await pods.synced
  cluster.apply(pod('a/1', { app: 'db' }))
  assert.equal(keys(pods), '')
})

test('a projection keeps the same fields as in the real client', async () => {
  const containers = [{ name: 'c', image: 'i', ports: [1] }, { name: 'd', image: 'j' }]
  cluster.apply(pod('a/1', { 'app.io/name': 'x', other: 'y' }, { spec: { nodeName: 'n1', hostname: 'h', containers } }))
  const pods = open({ resource: 'pods', project: ['.spec.containers[*].image', 'metadata.labels.app\\.io/name'], indexes: { host: 'spec.hostname', second: 'spec.containers[1].name' } })
  await pods.synced
  assert.deepEqual(pods.get('a/1'), {
    apiVersion: 'v1', kind: 'Pod', metadata: { uid: 'uid-1', namespace: 'a', name: '1', labels: { 'app.io/name': 'x' }, resourceVersion: '1' },
    spec: { hostname: 'h', containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'j' }] },
  })
  assert.deepEqual([pods.by('host', 'h').length, pods.by('second', 'd').length], [1, 1])
})

test('interrupted collections keep their objects and relist after recover()', async () => {
  cluster.apply([pod('a/1'), pod('a/2')])
  const pods = open({ resource: 'pods' })
  await pods.synced
  cluster.interrupt()
  const late = open({ resource: 'nodes' })
  await settled()
  assert.deepEqual([pods.state.phase, pods.state.cause.code, late.state.phase], ['stale', 'network', 'waiting'])
  cluster.delete(pod('a/1'))
  assert.equal(keys(pods), 'a/1 a/2')
  const deletions = []
  pods.subscribe((changes) => deletions.push(...changes.map(({ key, finalStateUnknown }) => [key, finalStateUnknown])))
  cluster.recover()
  assert.deepEqual([keys(pods), deletions, pods.state.phase, late.state.phase], ['a/2', [['a/1', true]], 'live', 'live'])
})

for (const [status, code, phase] of [[401, 'unauthorized', 'stopped'], [403, 'forbidden', 'stopped'], [404, 'not-found', 'stopped'], [422, 'invalid', 'stopped'],
  [410, 'expired', 'waiting'], [429, 'too-many-requests', 'waiting'], [500, 'status', 'waiting']]) {
  test(`a new collection is ${phase} with the code ${code} if the server responds with ${status}`, async () => {
    cluster.reject('deployments', status, { message: 'no' })
    const deployments = open({ resource: 'deployments' })
    await settled()
    const { cause, ...state } = deployments.state
    assert.deepEqual([state.phase, cause.code, cause.status, cause.message, cause instanceof ListWatchError], [phase, code, status, 'no', true])
  })
}

test('a rejection interrupts a loaded collection without stopping it, and does not affect other namespaces', async () => {
  const a = open({ resource: 'pods', namespace: 'a' }), b = open({ resource: 'pods', namespace: 'b' })
  await Promise.all([a.synced, b.synced])
  cluster.reject('pods', 403, { namespace: 'a' })
  assert.deepEqual([a.state.phase, b.state.phase], ['stale', 'live'])
  cluster.reject('pods', 500, { namespace: 'a' })
  assert.equal(a.state.cause.status, 500, 'the latest rejection must apply')
  cluster.recover()
  assert.equal(a.state.phase, 'live')
})

test('an invalid selector stops the collection', async () => {
  for (const options of [{ labelSelector: 'a b' }, { fieldSelector: 'a' }]) {
    await assert.rejects(open({ resource: 'pods', ...options }).synced, { code: 'invalid', status: 400 })
  }
})

test('an object of a built-in resource needs no apiVersion', async () => {
  cluster.apply([{ kind: 'Pod', metadata: { name: 'a' }, spec: { nodeName: 'n1' } }, { kind: 'Deployment', metadata: { name: 'b' } }])
  assert.deepEqual([await listed({ resource: 'pods' }), await listed({ resource: 'deployments' })], ['a', 'b'])
})

test('objects without a name or kind, and unknown resources, cause errors', () => {
  assert.throws(() => cluster.apply({ apiVersion: 'v1', kind: 'Pod' }), /needs metadata\.name/)
  assert.throws(() => cluster.apply({ metadata: { name: 'a' } }), /set kind on the object/)
  assert.throws(() => cluster.apply({ kind: 'Widget', metadata: { name: 'a' } }), /unknown resource widgets: add its group and version/)
  assert.throws(() => cluster.reject('podz', 403), /unknown resource podz/)
})

test('a new cluster replaces the previous cluster and stops its collections', async () => {
  const pods = open({ resource: 'pods' })
  await pods.synced
  assert.equal(cluster.collections, 1)
  const other = fakeCluster()
  assert.deepEqual([pods.state.phase, pods.state.cause.code, cluster.collections], ['stopped', 'aborted', 0])
  other.apply(pod('a/1'))
  assert.equal(await listed({ resource: 'pods' }), 'a/1')
  cluster.close()
  assert.equal(await listed({ resource: 'pods' }), 'a/1')
  other.close()
})

test('init() loads no module while a cluster is simulated', async () => {
  await init({ wasm: 'http://127.0.0.1:1/missing.wasm' })
  cluster.close()
  await assert.rejects(init({ wasm: 'http://127.0.0.1:1/missing.wasm', mode: 'main' }), { code: 'load' })
})
