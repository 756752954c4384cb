import assert from 'node:assert/strict'
import { test } from 'node:test'
import { texts } from './support/page.js'
import { containerElements, containersOf } from '../containers.js'
import { OwnedList, owned, ownedBy, selectorOf } from '../owned.js'

const resource = (kind, group = '') => ({ kind, group, version: 'v1', plural: `${kind.toLowerCase()}s`, namespaced: true, shortNames: [] })
const replicaSets = resource('ReplicaSet', 'apps'), pods = resource('Pod'), jobs = resource('Job', 'batch'), all = [pods, replicaSets, jobs]
const item = (name, kind, owner, more) => ({
  key: `shop/${name}`, name, namespace: 'shop', object: { metadata: { name, ownerReferences: [{ kind, name: owner }], ...more }, status: { phase: 'Running' } },
})

test('a container has its image, state, readiness, restarts and last exit', () => {
  const pod = {
    spec: { initContainers: [{ name: 'setup', image: 'setup:1' }], containers: [{ name: 'main', image: 'web:1' }, { name: 'new', image: 'new:1' }] },
    status: {
      initContainerStatuses: [{ name: 'setup', ready: true, state: { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2030-01-01T00:00:00Z' } } }],
      containerStatuses: [{ name: 'main', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
        lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: '2030-01-01T00:01:00Z' } } }],
    },
  }
  const [setup, main, waiting] = containersOf(pod)
  assert.deepEqual(setup, { name: 'setup', kind: 'init', image: 'setup:1', state: 'Terminated: Completed, exit code 0', tone: 'dim', at: Date.parse('2030-01-01T00:00:00Z'),
    ready: true, restarts: 0, message: '', last: undefined })
  assert.deepEqual(main, { name: 'main', kind: '', image: 'web:1', state: 'Waiting: CrashLoopBackOff', tone: 'bad', at: NaN, ready: false, restarts: 3, message: 'back-off 40s',
    last: { text: 'OOMKilled, exit code 137', at: Date.parse('2030-01-01T00:01:00Z') } })
  assert.deepEqual([waiting.state, waiting.tone, waiting.restarts], ['Waiting', 'warn', 0])
  const [ended, shown] = containerElements(pod)
  assert.deepEqual(texts('[data-tone]', ended), ['Terminated: Completed, exit code 0'])
  assert.match(texts('time', ended).join(), /^\S*2030/)
  assert.deepEqual(texts('dt', shown), ['Image', 'Ready', 'Restarts', 'Last exit', 'Message'])
  assert.match(texts('dd', shown)[3], /^OOMKilled, exit code 137 .*2030/)
})

test('a running container shows its start, and a failed one its exit code', () => {
  const of = (state) => containersOf({ spec: { containers: [{ name: 'a' }] }, status: { containerStatuses: [{ name: 'a', state }] } })[0]
  assert.deepEqual([of({ running: { startedAt: '2030-01-01T00:00:00Z' } })].map(({ state, tone, at }) => [state, tone, at]), [['Running', 'ok', Date.parse('2030-01-01T00:00:00Z')]])
  assert.deepEqual([of({ terminated: { exitCode: 2, signal: 9 } })].map(({ state, tone }) => [state, tone]), [['Terminated: exit code 2, signal 9', 'bad']])
  assert.deepEqual(containersOf({}), [])
})

test('a controller owns objects directly or through another controller', () => {
  assert.deepEqual(ownedBy('Deployment', all), [replicaSets, pods])
  assert.deepEqual(ownedBy('Job', all), [pods])
  assert.deepEqual(ownedBy('ConfigMap', all), [])
  const listed = [
    { resource: replicaSets, found: { items: [item('web-1', 'Deployment', 'web'), item('db-1', 'Deployment', 'db')], listed: true } },
    { resource: pods, found: { items: [item('web-1-a', 'ReplicaSet', 'web-1'), item('db-1-a', 'ReplicaSet', 'db-1'), item('direct', 'Deployment', 'web'), item('job', 'Job', 'web-1')], listed: true } },
  ]
  assert.deepEqual(owned('Deployment', 'web', listed).map(({ items }) => items.map(({ name }) => name)), [['web-1'], ['web-1-a', 'direct']])
})

test('the selector of a controller is converted to a label selector', () => {
  const selector = { matchLabels: { app: 'web', tier: 'a' }, matchExpressions: [{ key: 'x', operator: 'In', values: ['1', '2'] }, { key: 'y', operator: 'NotIn', values: ['3'] }, { key: 'z', operator: 'Exists' }, { key: 'w', operator: 'DoesNotExist' }] }
  assert.equal(selectorOf({ spec: { selector } }), 'app=web,tier=a,x in (1,2),y notin (3),z,!w')
  assert.equal(selectorOf({ spec: { selector: { app: 'web' } } }), 'app=web') // of a ReplicationController
  assert.equal(selectorOf({ spec: {} }), undefined)
  assert.equal(selectorOf({}), undefined)
})

test('the list links owned objects, the newest first, and explains what is missing', () => {
  const list = new OwnedList(), web = { name: 'web', namespace: 'shop' }
  const young = item('b', 'ReplicaSet', 'web', { creationTimestamp: '2030-01-02T00:00:00Z' }), old = item('a', 'ReplicaSet', 'web', { creationTimestamp: '2030-01-01T00:00:00Z' })
  const show = (items, more) => list.show('ReplicaSet', web, [{ resource: pods, found: { items, listed: true, ...more } }], '')
  show([old, young])
  assert.deepEqual(texts('a', list.element), ['b', 'a'])
  assert.equal(list.element.querySelector('a').getAttribute('href'), '#/v1/pods?sel=shop/b')
  assert.deepEqual(texts('h4', list.element), ['Pods 2'])
  assert.deepEqual(texts('.dotted', list.element), ['Running', 'Running'])
  show([])
  assert.deepEqual(texts('.none', list.element), ['None'])
  show([], { listed: false })
  assert.deepEqual(texts('.none', list.element), ['Loading'])
  show([], { cause: { code: 'forbidden', message: 'no access' } })
  assert.deepEqual(texts('.none', list.element), ['Not allowed: no access'])
  show(Array.from({ length: 40 }, (_, i) => item(`p${i}`, 'ReplicaSet', 'web')))
  assert.deepEqual(texts('.none', list.element), ['and 10 more'])
})
