import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podStatus } from '../columns/workloads.js'
import { diff, telling } from '../diff.js'
import { titleOf } from '../discovery.js'
import { History, Rate } from '../history.js'
import { format, parse } from '../place.js'
import { corner, progress, remedy, staleness } from '../status.js'
import { toYAML } from '../yaml.js'

test('a difference names the field, and elements of arrays by what names them', () => {
  const old = { spec: { n: 1, 'a/b': 'x' }, status: { conditions: [{ type: 'Ready', status: 'False' }], ips: ['1', '2'] } }
  const now = { spec: { n: 2, 'a/b': 'x' }, status: { conditions: [{ type: 'New', status: 'True' }, { type: 'Ready', status: 'True' }], ips: ['1'] } }
  assert.deepEqual(diff(old, now), [
    { path: 'spec.n', at: ['spec', 'n'], old: 1, now: 2 },
    { path: 'status.conditions[New]', at: ['status', 'conditions', 0], old: undefined, now: { type: 'New', status: 'True' } },
    { path: 'status.conditions[Ready].status', at: ['status', 'conditions', 1, 'status'], old: 'False', now: 'True' },
    { path: 'status.ips[1]', at: ['status', 'ips', 1], old: '2', now: undefined },
  ])
  assert.deepEqual(diff({ a: { 'x.y/z': 1 } }, { a: null }).map(({ path }) => path), ['a'])
  assert.deepEqual(diff({ a: { 'x.y/z': 1 } }, { a: { 'x.y/z': 2 } }).map(({ path }) => path), ['a["x.y/z"]'])
  assert.deepEqual(diff(now, structuredClone(now)), [])
})

test('the version is told only when nothing else differs', () => {
  const version = (v) => ({ path: 'metadata.resourceVersion', old: '1', now: v })
  assert.deepEqual(telling([version('2')]), [version('2')])
  assert.deepEqual(telling([version('2'), { path: 'spec.n' }]), [{ path: 'spec.n' }])
  const [when, what] = ['lastTransitionTime', 'status'].map((field) => ({ path: `status.conditions[Ready].${field}` }))
  assert.deepEqual(telling([when, what]), [what, when], 'what differs comes before when')
})

test('a place is a URL and back', () => {
  const places = [
    { group: 'apps', version: 'v1', plural: 'deployments', namespace: 'shop', search: 'a b&c=ö', sort: 'age', descending: true, selected: 'shop/web' },
    { group: '', version: 'v1', plural: 'pods', namespace: '', search: '', sort: '', descending: false, selected: '' },
  ]
  for (const place of places) assert.deepEqual(parse(format(place)), place)
  assert.equal(format(places[1]), '#/v1/pods')
  assert.equal(parse('#/v1/100%').plural, '100%')
  assert.equal(parse('').plural, '')
})

test('YAML quotes what would be read as something else', () => {
  assert.equal(toYAML({ a: 'yes', b: '1', c: 'x: y', d: [], e: ['p', { q: 1, r: [true] }, [2]], f: 'one\ntwo\n', g: '', h: null, i: '10.0.0.1', j: '128Mi', k: '1e3' }), `a: "yes"
b: "1"
c: "x: y"
d: []
e:
- p
- q: 1
  r:
  - true
- - 2
f: |
  one
  two
g: ""
h: null
i: 10.0.0.1
j: 128Mi
k: "1e3"
`)
})

test("a Pod's status is what tells most", () => {
  const pod = (status, metadata = {}) => podStatus({ metadata, status })
  const container = (state, ready = false) => ({ state, ready })
  assert.equal(pod({ phase: 'Running', containerStatuses: [container({ running: {} }, true)] }), 'Running')
  assert.equal(pod({ phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })] }), 'CrashLoopBackOff')
  assert.equal(pod({ phase: 'Running', containerStatuses: [container({ running: {} }, true), container({ terminated: { exitCode: 0, reason: 'Completed' } })] }), 'Running')
  assert.equal(pod({ phase: 'Succeeded', containerStatuses: [container({ terminated: { exitCode: 0, reason: 'Completed' } })] }), 'Completed')
  assert.equal(pod({ phase: 'Pending', initContainerStatuses: [container({ running: {} })] }), 'Init:0/1')
  assert.equal(pod({ phase: 'Failed', reason: 'Evicted' }), 'Evicted')
  assert.equal(pod({ phase: 'Running' }, { deletionTimestamp: 'x' }), 'Terminating')
  assert.equal(pod(undefined), 'Unknown')
})

test('titles are plurals in words', () => {
  assert.equal(titleOf({ kind: 'ConfigMap', plural: 'configmaps' }), 'Config Maps')
  assert.equal(titleOf({ kind: 'NetworkPolicy', plural: 'networkpolicies' }), 'Network Policies')
  assert.equal(titleOf({ kind: 'Ingress', plural: 'ingresses' }), 'Ingresses')
})

test('stale is said when it is, and how old', () => {
  const at = new Date(2030, 0, 1, 12, 3, 4).getTime()
  assert.match(staleness({ stale: true, lastEventAt: at, cause: { message: 'gone' } }, 3, at + 34_000), /12:03:04, 34s ago.*Cause: gone/)
  assert.equal(staleness({ stale: false, lastEventAt: at }, 3, at), '')
  assert.equal(staleness({ stale: true, lastEventAt: at }, 0, at), '', 'nothing is shown that could be stale')
  assert.deepEqual(progress({ phase: 'listing', progress: { received: 500, remaining: 1500 } }), { part: 0.25, text: '500 of 2,000' })
})

test('a live page says when it last heard from a quiet server', () => {
  const at = Date.UTC(2030, 0, 1)
  const shown = (ms) => corner({ phase: 'live', stale: false, resourceVersion: '7', lastEventAt: at }, at + ms)
  const words = (ms) => shown(ms).text + shown(ms).more
  assert.deepEqual(shown(9_999), { tone: 'ok', text: 'Live', more: '', title: 'Version 7' })
  assert.deepEqual(shown(43_900), { tone: 'quiet', text: 'Live', more: ', last heard 43 s ago', title: 'Version 7' })
  assert.deepEqual([10_000, 59_999, 60_000, 150_000].map(words), ['Live, last heard 10 s ago', 'Live, last heard 59 s ago', 'Live, last heard 1 min ago', 'Live, last heard 2 min ago'])
  assert.equal(words(-5000), 'Live', 'the clock was set back')
})

test('a live page says that changes arrive late while watches take turns', () => {
  const at = Date.UTC(2030, 0, 1), cause = { code: 'turns', message: 'watches take turns on two connections' }
  const shown = (ms) => corner({ phase: 'live', stale: false, resourceVersion: '7', lastEventAt: at, cause }, at + ms)
  assert.deepEqual(shown(0), { tone: 'quiet', text: 'Live, some seconds late', more: '', title: cause.message })
  assert.deepEqual(shown(12_000), { tone: 'quiet', text: 'Live, some seconds late', more: ', last heard 12 s ago', title: cause.message })
})

test('the button offers another token after a 401, and otherwise a retry unless the server asked to wait', () => {
  const offered = (phase, code, status) => remedy({ phase, stale: true, cause: { code, message: 'x', status } })
  assert.equal(offered('interrupted', 'unauthorized', 401), 'Enter another token')
  assert.equal(offered('stopped', 'unauthorized'), 'Enter another token')
  assert.equal(offered('interrupted', 'network'), 'Try now')
  assert.equal(offered('stopped', 'forbidden', 403), 'Try now')
  assert.equal(offered('interrupted', 'too-many-requests', 429), '')
  assert.equal(offered('live', 'turns'), '')
})

test('only the part that screen readers skip changes while nothing happens', () => {
  const state = { phase: 'interrupted', stale: true, cause: { code: 'network', message: 'refused' }, retryAt: 5000 }
  assert.deepEqual(corner(state, 2000), { tone: 'warn', text: 'No connection', more: ' · next try in 3 s', title: 'refused' })
  assert.deepEqual(corner(state, 5000), { tone: 'warn', text: 'No connection', more: ' · trying now', title: 'refused' })
  assert.equal(corner({ ...state, phase: 'stopped', cause: { code: 'status', message: 'x' } }, 0).text, 'The server answered with an error')
})

test('history is bounded, in all and for each object', () => {
  const history = new History()
  for (let i = 0; i < 5000; i++) history.add({ change: { key: `k${i % 3}` }, at: i })
  assert.equal(history.of('k0').length, 20)
  assert.equal(history.of('k1')[0].at, 4999 - (4999 - 1) % 3)
  for (let i = 0; i < 3000; i++) history.add({ change: { key: `once-${i}` } })
  assert.equal(history.of('k0').length, 0)
  assert.equal(history.of('once-2999').length, 1)
})

test('the rate forgets what is older than a minute', () => {
  const rate = new Rate()
  rate.add(10, 100_000)
  rate.add(5, 101_000)
  assert.deepEqual(rate.list(101_500).slice(-2), [10, 5])
  assert.equal(rate.now(102_000), 3)
  assert.equal(rate.list(170_000).reduce((a, b) => a + b), 0)
})
