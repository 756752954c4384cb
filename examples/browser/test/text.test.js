import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podStatus } from '../columns/workloads.js'
import { brief, diff, visibleDifferences } from '../diff.js'
import { titleOf } from '../discovery.js'
import { History, Rate } from '../history.js'
import { collectionOf, format, parse } from '../route.js'
import { indicator, progress, actionLabel, staleness } from '../status.js'
import { linesOf, partsOf, toYAML } from '../yaml.js'

test('the path of a difference identifies array elements by name', () => {
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

test('the resourceVersion is shown only if nothing else differs', () => {
  const version = (v) => ({ path: 'metadata.resourceVersion', old: '1', now: v })
  assert.deepEqual(visibleDifferences([version('2')]), [version('2')])
  assert.deepEqual(visibleDifferences([version('2'), { path: 'spec.n' }]), [{ path: 'spec.n' }])
  const [when, what] = ['lastTransitionTime', 'status'].map((field) => ({ path: `status.conditions[Ready].${field}` }))
  assert.deepEqual(visibleDifferences([when, what]), [what, when], 'timestamps must come last')
})

test('a route can be converted to a URL and back', () => {
  const routes = [
    { group: 'apps', version: 'v1', plural: 'deployments', namespace: 'shop,batch', search: 'a b&c=ö', sort: 'age', descending: true, selected: 'shop/web', tab: 'yaml', statuses: ['Failed', 'Ready, cordoned'], columns: ['name', 'age'] },
    { group: '', version: 'v1', plural: 'pods', namespace: '', search: '', sort: '', descending: false, selected: '', tab: '', statuses: [], columns: [] },
  ]
  for (const route of routes) assert.deepEqual(parse(format(route)), route)
  assert.equal(format(routes[1]), '#/v1/pods')
  assert.equal(parse('#/v1/100%').plural, '100%')
  assert.equal(parse('').plural, '')
})

test('YAML quotes ambiguous strings', () => {
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

test("a Pod's status comes from its most specific field", () => {
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

test('titles separate words with spaces', () => {
  assert.equal(titleOf({ kind: 'ConfigMap', plural: 'configmaps' }), 'Config Maps')
  assert.equal(titleOf({ kind: 'NetworkPolicy', plural: 'networkpolicies' }), 'Network Policies')
  assert.equal(titleOf({ kind: 'Ingress', plural: 'ingresses' }), 'Ingresses')
})

test('stale data is shown with its time and age', () => {
  const at = new Date(2030, 0, 1, 12, 3, 4).getTime()
  assert.match(staleness({ phase: 'stale', lastEventAt: at, cause: { message: 'gone' } }, 3, at + 34_000), /12:03:04, 34s ago.*Cause: gone/)
  assert.equal(staleness({ phase: 'live', lastEventAt: at }, 3, at), '')
  assert.equal(staleness({ phase: 'stale', lastEventAt: at }, 0, at), '', 'an empty table must not be marked as stale')
  assert.deepEqual(progress({ phase: 'listing', progress: { received: 500, remaining: 1500 } }), { part: 0.25, text: '500 of 2,000' })
})

test('a live page shows when the server last sent data, if that was at least 10 s ago', () => {
  const at = Date.UTC(2030, 0, 1)
  const shown = (ms) => indicator({ phase: 'live', resourceVersion: '7', lastEventAt: at }, at + ms)
  const words = (ms) => shown(ms).text + shown(ms).more
  assert.deepEqual(shown(9_999), { tone: 'ok', text: 'Live', more: '', title: 'Version 7' })
  assert.deepEqual(shown(43_900), { tone: 'quiet', text: 'Live', more: ', last update 43 s ago', title: 'Version 7' })
  assert.deepEqual([10_000, 59_999, 60_000, 150_000].map(words), ['Live, last update 10 s ago', 'Live, last update 59 s ago', 'Live, last update 1 min ago', 'Live, last update 2 min ago'])
  assert.equal(words(-5000), 'Live', 'no time must be shown if the clock was set back')
})

test('a live page reports delayed changes while watches take turns', () => {
  const at = Date.UTC(2030, 0, 1), cause = { code: 'turns', message: 'watches take turns on two connections' }
  const shown = (ms) => indicator({ phase: 'live', resourceVersion: '7', lastEventAt: at, cause }, at + ms)
  assert.deepEqual(shown(0), { tone: 'quiet', text: 'Live, a few seconds behind', more: '', title: cause.message })
  assert.deepEqual(shown(12_000), { tone: 'quiet', text: 'Live, a few seconds behind', more: ', last update 12 s ago', title: cause.message })
})

test('the retry button offers another token after a 401 response, or a retry unless the server requested a delay', () => {
  const offered = (phase, code, status) => actionLabel({ phase, retryAt: phase === 'stale' ? 1 : undefined, cause: { code, message: 'x', status } })
  assert.equal(offered('stale', 'unauthorized', 401), 'Enter another token')
  assert.equal(offered('stopped', 'unauthorized'), 'Enter another token')
  assert.equal(offered('stale', 'network'), 'Try now')
  assert.equal(offered('stopped', 'forbidden', 403), 'Try now')
  assert.equal(offered('stale', 'too-many-requests', 429), '')
  assert.equal(offered('live', 'turns'), '')
})

test('the countdown to a retry changes only the text that is hidden from screen readers', () => {
  const state = { phase: 'stale', cause: { code: 'network', message: 'refused' }, retryAt: 5000 }
  assert.deepEqual(indicator(state, 2000), { tone: 'warn', text: 'No connection', more: ' · next try in 3 s', title: 'refused' })
  assert.deepEqual(indicator(state, 5000), { tone: 'warn', text: 'No connection', more: ' · trying now', title: 'refused' })
  assert.equal(indicator({ ...state, phase: 'stopped', cause: { code: 'status', message: 'x' } }, 0).text, 'The server answered with an error')
})

test('the history is limited in total and per object', () => {
  const history = new History()
  for (let i = 0; i < 5000; i++) history.add({ change: { key: `k${i % 3}` }, at: i })
  assert.equal(history.of('k0').length, 20)
  assert.equal(history.of('k1')[0].at, 4999 - (4999 - 1) % 3)
  for (let i = 0; i < 3000; i++) history.add({ change: { key: `once-${i}` } })
  assert.equal(history.of('k0').length, 0)
  assert.equal(history.of('once-2999').length, 1)
})

test('the rate covers one minute', () => {
  const rate = new Rate()
  rate.add(10, 100_000)
  rate.add(5, 101_000)
  assert.deepEqual(rate.list(101_500).slice(-2), [10, 5])
  assert.equal(rate.now(102_000), 3)
  assert.equal(rate.list(170_000).reduce((a, b) => a + b), 0)
})

test('the history keeps the last 20 changes of each object and at least the last 1,000 changes in total', () => {
  const history = new History(), add = (key, at) => history.add({ change: { key }, at })
  for (let i = 0; i < 21; i++) add('a', i)
  assert.deepEqual(history.of('a').map(({ at }) => at), Array.from({ length: 20 }, (_, i) => 20 - i))
  assert.deepEqual(history.of('b'), [])
  for (let i = 21; i < 1000; i++) add(`other-${i}`, i)
  add('kept', 1000)
  for (let i = 1001; i < 1999; i++) add(`other-${i}`, i)
  assert.deepEqual([history.of('a').length, history.of('other-999').length], [20, 1])
  add('last', 1999)
  assert.deepEqual(['a', 'other-999', 'kept', 'last'].map((key) => history.of(key).length), [0, 0, 1, 1])
  for (let i = 2000; i < 3000; i++) add('b', i)
  assert.deepEqual(['kept', 'b'].map((key) => history.of(key).length), [0, 20])
})

test('reading a list of changes does not modify it', () => {
  const history = new History()
  for (let at = 0; at < 3; at++) history.add({ change: { key: 'a' }, at })
  for (let i = 0; i < 2; i++) assert.deepEqual(history.of('a').map(({ at }) => at), [2, 1, 0])
})

test('the rate has one count per second', () => {
  const rate = new Rate(), seconds = (now) => rate.list(now).flatMap((n, i) => (n ? [[i, n]] : []))
  rate.add(1, 100_000)
  rate.add(2, 100_999)
  assert.deepEqual(seconds(100_000), [[59, 3]])
  assert.deepEqual(seconds(159_999), [[0, 3]])
  assert.deepEqual(seconds(160_000), [])
  rate.add(4, 161_000)
  assert.deepEqual(seconds(163_000), [[57, 4]])
  rate.add(8, 162_000) // the clock was set back
  assert.deepEqual(seconds(163_000), [[57, 4], [59, 8]])
  assert.deepEqual([163_000, 166_000, 167_000].map((now) => rate.now(now)), [0.8, 2.4, 1.6])
})

test('the rate is zero after a long pause', () => {
  const rate = new Rate()
  for (let s = 0; s < 60; s++) rate.add(1, s * 1000)
  assert.equal(rate.list(59_000).reduce((a, b) => a + b), 60)
  assert.equal(rate.list(119_000).reduce((a, b) => a + b), 0)
  for (let s = 200; s < 260; s++) rate.add(1, s * 1000)
  assert.equal(rate.list(320_000).reduce((a, b) => a + b), 0)
})

test('brief() formats the old and new values of a change', () => {
  assert.deepEqual([brief('x'), brief(''), brief(1), brief(null), brief(true), brief({ a: 1, b: [2] }), brief([])],
    ['x', '""', '1', 'null', 'true', 'a: 1\nb:\n- 2', ''])
})

test('lists are compared by name only if all elements have unique names', () => {
  const paths = (old, now) => diff({ l: old }, { l: now }).map(({ path }) => path)
  const named = (name, v) => ({ name, v })
  assert.deepEqual(paths([named('a', 1), named('b', 1)], [named('b', 2), named('a', 1)]), ['l[b].v'])
  assert.deepEqual(paths([named('a', 1), named('a', 2)], [named('a', 2), named('a', 1)]), ['l[0].v', 'l[1].v'])
  assert.deepEqual(paths([named('a', 1), { v: 1 }], [named('a', 2), { v: 1 }]), ['l[0].v'])
  assert.deepEqual(paths([named(1, 1)], [named(1, 2)]), ['l[0].v'])
  assert.deepEqual(paths([named('a', 1), null], [named('a', 2), null]), ['l[0].v'])
  assert.deepEqual(paths([named('a', 1), named('b', 1)], [named('b', 2)]), ['l[b].v', 'l[a]'], 'removed elements must come last')
  for (const key of ['type', 'key', 'ip', 'uid']) assert.deepEqual(paths([{ [key]: 'a', v: 1 }], [{ [key]: 'b' }, { [key]: 'a', v: 2 }]), ['l[b]', 'l[a].v'])
  assert.deepEqual(paths([1, 2], [1, 3, 4]), ['l[1]', 'l[2]'])
})

test('a value whose type changes counts as one difference', () => {
  const found = (old, now) => diff({ a: old }, { a: now })
  assert.deepEqual(found([1], { 0: 2 }), [{ path: 'a', at: ['a'], old: [1], now: { 0: 2 } }])
  assert.deepEqual(found({ 0: 2 }, [1]).length, 1)
  assert.deepEqual(found(null, { b: 1 }), [{ path: 'a', at: ['a'], old: null, now: { b: 1 } }])
  assert.deepEqual(found({ b: 1 }, { b: 1, c: 2 }), [{ path: 'a.c', at: ['a', 'c'], old: undefined, now: 2 }])
  assert.deepEqual(found({ b: 1, c: 2 }, { b: 1 }), [{ path: 'a.c', at: ['a', 'c'], old: 2, now: undefined }])
  assert.deepEqual(diff({ l: [1, 2] }, { l: [1] })[0].at, ['l', 1])
  assert.deepEqual(diff({ l: [{ name: 'a' }, { name: 'b' }] }, { l: [{ name: 'a' }] })[0], { path: 'l[b]', at: ['l'], old: { name: 'b' }, now: undefined })
})

test('the resourceVersion and the generation are hidden, and times come last', () => {
  const paths = (...all) => visibleDifferences(all.map((path) => ({ path }))).map(({ path }) => path)
  assert.deepEqual(paths('metadata.generation', 'metadata.resourceVersion'), ['metadata.generation', 'metadata.resourceVersion'])
  assert.deepEqual(paths('metadata.generation', 'status.lastSeenTime', 'spec.lastTime.x', 'status.n'), ['spec.lastTime.x', 'status.n', 'status.lastSeenTime'])
})

test('a route has empty parts if its URL omits them', () => {
  const none = { group: '', version: '', plural: '', namespace: '', search: '', sort: '', descending: false, selected: '', tab: '', statuses: [], columns: [] }
  for (const hash of ['', '#', '#/']) assert.deepEqual(parse(hash), none)
  assert.deepEqual(parse('#pods'), { ...none, plural: 'pods' })
  assert.deepEqual(parse('#/v1/pods?q=a?b&sort=-x-y&ns=n&sel=n/a'), { ...none, version: 'v1', plural: 'pods', search: 'a?b', sort: 'x-y', descending: true, namespace: 'n', selected: 'n/a' })
  assert.equal(parse('#/v1/a%20b').plural, 'a b')
})

test('a URL contains only the parts of a route that are set', () => {
  const route = { group: '', version: 'v1', plural: 'pods' }
  assert.equal(format(route), '#/v1/pods')
  assert.equal(format({ ...route, descending: true }), '#/v1/pods')
  assert.equal(format({ ...route, sort: 'age' }), '#/v1/pods?sort=age')
  assert.equal(format({ ...route, group: 'a/b', selected: 'a/b/c', namespace: 'n' }), '#/a%2Fb/v1/pods?ns=n&sel=a/b/c')
  assert.equal(collectionOf(route), 'v1/pods')
  assert.equal(collectionOf({ ...route, group: 'apps' }), 'apps/v1/pods')
})

test('YAML output supports block strings, nested lists and quoted keys', () => {
  assert.equal(toYAML({ 'a b': 1, 'x: y': 2, yes: 3, t: 'one\ntwo', l: [[1, 2], [{ a: 1, b: 'x\ny' }], {}], o: {}, u: 'a:b', v: 'a ', w: '2030-01-01', id: '01234567-89ab-cdef-0123-456789abcdef', cidr: '10.0.0.0/8', d: '"' }), `a b: 1
"x: y": 2
"yes": 3
t: |-
  one
  two
l:
- - 1
  - 2
- - a: 1
    b: |-
      x
      y
- {}
o: {}
u: a:b
v: "a "
w: "2030-01-01"
id: 01234567-89ab-cdef-0123-456789abcdef
cidr: 10.0.0.0/8
d: "\\""
`)
})

test('each line of YAML has the path of its field', () => {
  const lines = linesOf({ a: { b: ['x', { c: 'y\nz' }] }, d: [] })
  assert.deepEqual(lines.map((line) => [partsOf(line).join(''), line.at.join('.')]), [
    ['a:', 'a'], ['  b:', 'a.b'], ['  - x', 'a.b.0'], ['  - c: |-', 'a.b.1.c'], ['      y', 'a.b.1.c'], ['      z', 'a.b.1.c'], ['d: []', 'd'],
  ])
  assert.deepEqual(partsOf(lines[3]), ['  - ', 'c:', ' |-'])
})
