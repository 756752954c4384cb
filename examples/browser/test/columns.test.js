import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf, sortOf } from '../columns/index.js'
import { age, condition, natural, since } from '../columns/format.js'
import { podStatus } from '../columns/workloads.js'

const T = '2026-01-02T03:04:05Z', at = (seconds) => new Date(Date.parse(T) + seconds * 1000).toISOString()
const meta = { name: 'web', namespace: 'shop', creationTimestamp: T }
const resource = (kind) => {
  const [group, plural] = kind.split('/')
  return { group, plural, namespaced: true }
}
const columns = (kind) => columnsOf(resource(kind), '')
// Returns the text and the color of a cell. A time column returns the age one hour after T.
function cell(kind, id, object) {
  const column = columns(kind).find((one) => one.id === id), o = { metadata: meta, ...object }
  if (column.time) return age(Date.parse(at(3600)) - column.time(o))
  const text = column.text(o), tone = column.tone?.(o, text)
  return tone ? `${text} (${tone})` : text
}
const rank = (kind, id, object) => columns(kind).find((one) => one.id === id).rank(object)
const heads = (kind) => columns(kind).map(({ title }) => title).join(', ')

const HEADS = {
  '/pods': 'Namespace, Name, Ready, Status, Restarts, Node, IP, Age',
  'apps/deployments': 'Namespace, Name, Ready, Up to date, Available, Images, Age',
  'apps/statefulsets': 'Namespace, Name, Ready, Images, Age',
  'apps/replicasets': 'Namespace, Name, Ready, Images, Age',
  'apps/daemonsets': 'Namespace, Name, Ready, Up to date, Images, Age',
  'batch/jobs': 'Namespace, Name, Status, Done, Took, Images, Age',
  'batch/cronjobs': 'Namespace, Name, Schedule, Suspended, Active, Last, Images, Age',
  'autoscaling/horizontalpodautoscalers': 'Namespace, Name, Target, Min, Max, Replicas, Age',
  '/nodes': 'Name, Status, Roles, Version, Address, CPU, Memory, Pressure, Age',
  '/events': 'Last, Type, Reason, Object, Message, Count, Namespace',
  'events.k8s.io/events': 'Last, Type, Reason, Object, Message, Count, Namespace',
  '/namespaces': 'Name, Status, Labels, Age',
  '/services': 'Namespace, Name, Type, Cluster IP, External, Ports, Age',
  '/configmaps': 'Namespace, Name, Keys, Labels, Age',
  '/secrets': 'Namespace, Name, Type, Labels, Age',
  '/persistentvolumeclaims': 'Namespace, Name, Status, Capacity, Class, Volume, Age',
  '/persistentvolumes': 'Name, Status, Capacity, Class, Claim, Age',
  'networking.k8s.io/ingresses': 'Namespace, Name, Class, Hosts, Age',
  'coordination.k8s.io/leases': 'Namespace, Name, Holder, Renewed, Age',
  'example.com/widgets': 'Namespace, Name, Status, Labels, Age',
}
for (const [kind, titles] of Object.entries(HEADS)) {
  test(`the columns of ${kind} have unique ids`, () => {
    assert.equal(heads(kind), titles)
    assert.equal(new Set(columns(kind).map(({ id }) => id)).size, columns(kind).length)
    assert.ok(columns(kind).every(({ id, width }) => /^[a-z]+$/.test(id) && [width].flat().every((n) => n > 0)))
  })
}

test('the namespace column is hidden if all objects have the same namespace', () => {
  const ids = (more, chosen) => columnsOf({ ...resource('/pods'), ...more }, chosen).map(({ id }) => id)
  assert.equal(ids({}, '')[0], 'namespace')
  assert.equal(ids({}, 'shop')[0], 'name')
  assert.equal(ids({ namespaced: false }, '')[0], 'name')
})

test('events are sorted by age and all other collections by key', () => {
  assert.deepEqual(sortOf({ plural: 'events' }), { sort: 'last', descending: false })
  assert.deepEqual(sortOf({ plural: 'pods' }), { sort: '', descending: false })
})

test('ages are rounded as in kubectl', () => {
  const minute = 60_000, hour = 60 * minute, day = 24 * hour
  const ages = [[NaN, '—'], [-5000, '0s'], [999, '0s'], [59_999, '59s'], [minute, '1m'], [hour - 1, '59m'], [hour, '1h'], [48 * hour - 1, '47h'],
    [48 * hour, '2d'], [730 * day - 1, '729d'], [730 * day, '2y'], [1095 * day - 1, '2y'], [1095 * day, '3y']]
  for (const [ms, text] of ages) assert.equal(age(ms), text)
  assert.ok(Number.isNaN(since(undefined)))
  assert.equal(since('1970-01-01T00:00:01Z'), 1000)
})

test('names are sorted numerically and ignore case', () => {
  assert.deepEqual(['web-10', 'Web-2', 'db'].sort((a, b) => (natural(a) < natural(b) ? -1 : 1)), ['db', 'Web-2', 'web-10'])
})

test('every object has a name, a namespace, labels and an age', () => {
  const kind = 'example.com/widgets'
  assert.deepEqual(['name', 'namespace', 'age'].map((id) => cell(kind, id)), ['web', 'shop', '1h'])
  assert.deepEqual(['name', 'namespace', 'labels', 'age'].map((id) => cell(kind, id, { metadata: {} })), ['', '', ' (dim)', '—'])
  assert.equal(cell(kind, 'labels', { metadata: { labels: { 'app.example.com/part/of': 'x', b: 'y' } } }), 'of=x  b=y (dim)')
})

test('the status of a custom resource is read from several fields', () => {
  const status = (status, metadata = meta) => cell('example.com/widgets', 'status', { metadata, status })
  const conditions = (...all) => ({ conditions: all.map(([type, status, reason]) => ({ type, status, reason })) })
  assert.equal(status(undefined), ' (dim)')
  assert.equal(status({}, { deletionTimestamp: T }), 'Terminating (warn)')
  assert.equal(status(conditions(['Ready', 'True'])), 'Ready (ok)')
  assert.equal(status(conditions(['Available', 'True'])), 'Available (ok)')
  assert.equal(status(conditions(['Available', 'True'], ['Ready', 'False', 'Waiting'])), 'Waiting (warn)')
  assert.equal(status(conditions(['Ready', 'False'])), 'Not ready (warn)')
  assert.equal(status({ phase: 'Running', state: 'Other' }), 'Running (ok)')
  assert.equal(status({ state: 'Failed' }), 'Failed (bad)')
  assert.equal(status({ phase: { odd: 1 } }), ' (dim)')
  assert.deepEqual(['Active', 'Bound', 'Error', 'Odd'].map((phase) => status({ phase })), ['Active (ok)', 'Bound (ok)', 'Error (bad)', 'Odd (warn)'])
  assert.equal(condition({ status: conditions(['A', '1'], ['B', '2']) }, 'B').status, '2')
  assert.equal(condition({}, 'B'), undefined)
})

const container = (state, more) => ({ ready: false, restartCount: 0, state, ...more })
const running = (ready = true, more) => container({ running: {} }, { ready, ...more })
const pod = (containerStatuses, status = {}, spec = {}) => ({ spec, status: { phase: 'Running', containerStatuses, ...status } })

test("a Pod's status has a color", () => {
  const status = (...of) => cell('/pods', 'status', pod(...of))
  assert.equal(status([running()]), 'Running (ok)')
  assert.equal(status([running(), running(false)]), 'Running (warn)')
  assert.equal(status([container({ waiting: { reason: 'ContainerCreating' } })]), 'ContainerCreating (warn)')
  assert.equal(status([container({ waiting: { reason: 'CrashLoopBackOff' } })]), 'CrashLoopBackOff (bad)')
  for (const phase of ['Pending', 'Unknown']) assert.equal(status([], { phase }), `${phase} (warn)`)
  for (const reason of ['PodInitializing', 'NotReady', 'SchedulingGated']) assert.equal(status([], { phase: 'Pending', reason }), `${reason} (warn)`)
  assert.equal(status([], { phase: 'Succeeded' }), 'Succeeded (dim)')
  assert.equal(status([container({ terminated: { reason: 'Completed' } })]), 'Completed (dim)')
  assert.equal(status([], { phase: 'Failed' }), 'Failed (bad)')
})

test("a Pod\'s status is the first reason that its containers report", () => {
  const status = (containerStatuses, more) => podStatus(pod(containerStatuses, more))
  const ended = (exitCode, reason) => container({ terminated: { exitCode, reason } })
  assert.equal(status([ended(3)]), 'Exit 3')
  assert.equal(status([ended(0, 'Completed'), ended(1, 'Error')]), 'Error')
  assert.equal(status([running(), ended(1, 'Error')]), 'Error')
  assert.equal(status([running(), ended(0, 'Completed')]), 'Running')
  assert.equal(status([running(), ended(0, 'Completed'), ended(1, 'Error')]), 'Error')
  assert.equal(status([{ ready: false }]), 'Running')
  assert.equal(podStatus({}), 'Unknown')
  assert.equal(podStatus({ metadata: { deletionTimestamp: T }, status: { reason: 'NodeLost' } }), 'Unknown')
})

test('the status of a starting Pod comes from its init containers', () => {
  const status = (...initContainerStatuses) => podStatus({ status: { phase: 'Pending', initContainerStatuses } })
  const done = container({ terminated: { exitCode: 0 } })
  assert.equal(status(done, running(false), done), 'Init:1/3')
  assert.equal(status(container({ waiting: { reason: 'ErrImagePull' } })), 'Init:ErrImagePull')
  assert.equal(status(container({ terminated: { exitCode: 2 } })), 'Init:Exit 2')
  assert.equal(status(done), 'Pending')
  assert.equal(status(running(true)), 'Pending')
  assert.equal(status(running(false, { started: true })), 'Pending', 'a started sidecar must not count as pending initialization')
})

test('a Pod shows its readiness, restarts, node and IP address', () => {
  const one = pod([running(true, { restartCount: 2 }), running(false, { restartCount: 3 }), { ready: true }], { podIP: '10.0.0.1' }, { nodeName: 'n1', containers: [{}, {}, {}] })
  assert.deepEqual(['ready', 'restarts', 'node', 'ip'].map((id) => cell('/pods', id, one)), ['2/3 (warn)', '5 (warn)', 'n1', '10.0.0.1 (dim)'])
  assert.deepEqual([rank('/pods', 'ready', one), rank('/pods', 'restarts', one)], [2 / 3, 5])
  assert.deepEqual(['ready', 'restarts', 'node', 'ip'].map((id) => cell('/pods', id, {})), ['0/0', '0 (dim)', '', ' (dim)'])
  assert.equal(rank('/pods', 'ready', {}), 1)
  for (const phase of ['Succeeded', 'Failed']) assert.equal(cell('/pods', 'ready', pod([running(false)], { phase }, { containers: [{}] })), '0/1 (dim)')
  assert.equal(cell('/pods', 'ready', pod([running()], {}, { containers: [{}] })), '1/1')
})

const template = { spec: { containers: [{ image: 'host/path/web:1@sha256:x' }, { image: 'db' }, {}] } }

test('workloads show the number of ready replicas', () => {
  for (const kind of ['apps/deployments', 'apps/statefulsets', 'apps/replicasets']) {
    assert.equal(cell(kind, 'ready', { spec: { replicas: 3 }, status: { readyReplicas: 1 } }), '1/3 (warn)')
    assert.equal(cell(kind, 'ready', { status: { readyReplicas: 1 } }), '1/1')
    assert.equal(cell(kind, 'ready', { spec: { replicas: 0 } }), '0/0')
    assert.equal(cell(kind, 'image', { spec: { template } }), 'web:1, db,  (dim)')
  }
  const some = { status: { updatedReplicas: 2, availableReplicas: 1 } }
  assert.deepEqual(['current', 'available'].map((id) => cell('apps/deployments', id, some)), ['2', '1'])
  assert.deepEqual(['current', 'available'].map((id) => cell('apps/deployments', id, {})), ['0', '0'])
  assert.deepEqual(['current', 'available'].map((id) => rank('apps/deployments', id, some)), [2, 1])
  const daemon = { status: { numberReady: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 3 } }
  assert.deepEqual(['ready', 'current'].map((id) => cell('apps/daemonsets', id, daemon)), ['1/2 (warn)', '3'])
  assert.equal(rank('apps/daemonsets', 'current', {}), 0)
})

test('a Job shows its status and duration', () => {
  const status = (spec, status) => cell('batch/jobs', 'status', { spec, status })
  const is = (type) => ({ active: 1, conditions: [{ type, status: 'True' }] })
  assert.equal(status({}, is('Failed')), 'Failed (bad)')
  assert.equal(status({ suspend: true }, is('Complete')), 'Complete (dim)')
  assert.equal(status({ suspend: true }, { active: 1 }), 'Suspended (dim)')
  assert.equal(status({}, { active: 1, conditions: [{ type: 'Failed', status: 'False' }, { type: 'Complete', status: 'False' }] }), 'Running (ok)')
  assert.equal(status(undefined, undefined), 'Pending (warn)')
  const ended = { status: { startTime: T, completionTime: at(300) } }
  assert.deepEqual([cell('batch/jobs', 'took', ended), rank('batch/jobs', 'took', ended)], ['5m', 300_000])
  assert.equal(cell('batch/jobs', 'took', { status: { startTime: T } }), '')
  assert.equal(cell('batch/jobs', 'completions', { spec: { completions: 4 }, status: { succeeded: 2 } }), '2/4 (warn)')
  assert.equal(cell('batch/jobs', 'completions', { status: { succeeded: 1 } }), '1/1')
})

test('a CronJob shows its schedule', () => {
  const one = { spec: { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template } } }, status: { active: [{}, {}], lastScheduleTime: at(3000) } }
  assert.deepEqual(['schedule', 'suspend', 'active', 'last', 'image'].map((id) => cell('batch/cronjobs', id, one)), ['* * * * *', 'yes (warn)', '2', '10m', 'web:1, db,  (dim)'])
  assert.deepEqual(['schedule', 'suspend', 'active', 'last', 'image'].map((id) => cell('batch/cronjobs', id, {})), ['', 'no (dim)', '', '—', ' (dim)'])
})

test('an autoscaler shows its target and limits', () => {
  const kind = 'autoscaling/horizontalpodautoscalers', ids = ['target', 'min', 'max', 'replicas']
  const one = { spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 5 }, status: { currentReplicas: 3 } }
  assert.deepEqual(ids.map((id) => cell(kind, id, one)), ['Deployment/web', '2', '5', '3'])
  assert.equal(cell(kind, 'min', {}), '1')
})

test('a Node shows its readiness and pressures', () => {
  const ready = (status, spec) => cell('/nodes', 'status', { spec, status: { conditions: [{ type: 'Ready', status }] } })
  assert.deepEqual([ready('True'), ready('False'), ready('Unknown'), cell('/nodes', 'status', {})], ['Ready (ok)', 'Not ready (bad)', 'Unknown (bad)', 'Unknown (bad)'])
  assert.equal(ready('True', { unschedulable: true }), 'Ready, cordoned (warn)')
  assert.equal(ready('False', { unschedulable: true }), 'Not ready, cordoned (bad)')
  const one = {
    metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '', other: '' } },
    status: {
      nodeInfo: { kubeletVersion: 'v1' }, addresses: [{ type: 'Hostname', address: 'h' }, { type: 'InternalIP', address: '10.1.1.1' }], capacity: { cpu: '8', memory: '16Gi' },
      conditions: [{ type: 'Ready', status: 'True' }, { type: 'DiskPressure', status: 'True' }, { type: 'PIDPressure', status: 'True' }, { type: 'MemoryPressure', status: 'False' }],
    },
  }
  const ids = ['roles', 'version', 'address', 'cpu', 'memory', 'pressure']
  assert.deepEqual(ids.map((id) => cell('/nodes', id, one)), ['worker, edge', 'v1', '10.1.1.1', '8', '16Gi', 'DiskPressure, PIDPressure (bad)'])
  assert.equal(rank('/nodes', 'cpu', one), 8)
  assert.deepEqual(ids.map((id) => cell('/nodes', id, {})), ['', '', '', '', '', 'none (dim)'])
})

test('an Event of either API group shows its time, object and count', () => {
  const ids = ['type', 'reason', 'object', 'message', 'count', 'namespace']
  const old = { type: 'Warning', reason: 'Failed', message: 'why', count: 3, involvedObject: { kind: 'Pod', name: 'web' } }
  const now = { type: 'Normal', reason: 'Ok', note: 'why', series: { count: 7 }, deprecatedCount: 2, regarding: { kind: 'Node', name: 'n' } }
  for (const kind of ['/events', 'events.k8s.io/events']) {
    assert.deepEqual(ids.map((id) => cell(kind, id, old)), ['Warning (warn)', 'Failed', 'Pod/web', 'why', '3', 'shop'])
    assert.deepEqual(ids.map((id) => cell(kind, id, now)), ['Normal (ok)', 'Ok', 'Node/n', 'why', '7', 'shop'])
    assert.deepEqual(ids.map((id) => cell(kind, id, {})), [' (warn)', '', '/', '', '1', 'shop'])
    assert.equal(cell(kind, 'count', { deprecatedCount: 2 }), '2')
  }
  const times = { series: { lastObservedTime: at(3540) }, lastTimestamp: at(3480), deprecatedLastTimestamp: at(3420), eventTime: at(3360) }
  const last = Object.keys(times).map((key, i, all) => cell('/events', 'last', Object.fromEntries(all.slice(i).map((k) => [k, times[k]]))))
  assert.deepEqual([...last, cell('/events', 'last', {})], ['1m', '2m', '3m', '4m', '1h'])
})

test('a Service shows its addresses and ports', () => {
  const ids = ['type', 'ip', 'outside', 'ports']
  const one = {
    spec: { type: 'LoadBalancer', clusterIP: '10.2.2.2', ports: [{ port: 80, nodePort: 30080, protocol: 'UDP' }, { port: 443, protocol: 'TCP' }, { port: 1 }] },
    status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '1.2.3.4', hostname: 'x' }] } },
  }
  assert.deepEqual(ids.map((id) => cell('/services', id, one)), ['LoadBalancer', '10.2.2.2', 'h, 1.2.3.4', '80:30080/UDP, 443, 1'])
  assert.deepEqual(ids.map((id) => cell('/services', id, {})), ['ClusterIP', '', '—', ''])
})

test('namespaces, volumes, ConfigMaps, Secrets, Ingresses and Leases have their own columns', () => {
  const phases = (kind, ...all) => all.map((phase) => cell(kind, 'status', { status: { phase } }))
  assert.deepEqual(phases('/namespaces', 'Active', 'Odd'), ['Active (ok)', 'Odd (warn)'])
  assert.equal(cell('/namespaces', 'status', { metadata: { deletionTimestamp: T }, status: { phase: 'Active' } }), 'Terminating (warn)')
  assert.deepEqual(phases('/persistentvolumeclaims', 'Bound', 'Lost', 'Pending'), ['Bound (ok)', 'Lost (bad)', 'Pending (warn)'])
  assert.deepEqual(phases('/persistentvolumes', 'Bound', 'Available', 'Failed', 'Released'), ['Bound (ok)', 'Available (ok)', 'Failed (bad)', 'Released (warn)'])
  assert.equal(cell('/configmaps', 'keys', { data: { a: '', b: '' }, binaryData: { c: '' } }), '3')
  assert.equal(cell('/configmaps', 'keys', {}), '0')
  assert.deepEqual([cell('/secrets', 'type', { type: 'kubernetes.io/tls' }), cell('/secrets', 'type', {})], ['kubernetes.io/tls', 'Opaque'])
  const claim = { spec: { storageClassName: 'fast', volumeName: 'v' }, status: { capacity: { storage: '1Gi' } } }
  assert.deepEqual(['capacity', 'class', 'volume'].map((id) => cell('/persistentvolumeclaims', id, claim)), ['1Gi', 'fast', 'v'])
  const volume = { spec: { capacity: { storage: '1Gi' }, storageClassName: 'fast', claimRef: { namespace: 'shop', name: 'c' } } }
  assert.deepEqual(['capacity', 'class', 'claim'].map((id) => cell('/persistentvolumes', id, volume)), ['1Gi', 'fast', 'shop/c'])
  assert.equal(cell('/persistentvolumes', 'claim', {}), '')
  const ingress = { spec: { ingressClassName: 'nginx', rules: [{ host: 'a.example' }, {}] } }
  assert.deepEqual(['class', 'hosts'].map((id) => cell('networking.k8s.io/ingresses', id, ingress)), ['nginx', 'a.example, *'])
  const lease = { spec: { holderIdentity: 'me', renewTime: at(3540) } }
  assert.deepEqual(['holder', 'renewed'].map((id) => cell('coordination.k8s.io/leases', id, lease)), ['me', '1m'])
})

test('columns accept empty objects of any kind', () => {
  for (const kind of Object.keys(HEADS)) {
    for (const column of columns(kind)) {
      const text = column.text?.({})
      assert.doesNotThrow(() => [column.time?.({}), column.rank?.({}), column.text && column.tone?.({}, text)], `${kind} ${column.id}`)
    }
  }
})

test('numbers and times are aligned to the right', () => {
  const right = (kind) => columns(kind).filter(({ end }) => end).map(({ id }) => id).join(' ')
  assert.equal(right('/pods'), 'ready restarts age')
  assert.equal(right('/nodes'), 'cpu memory age')
  assert.equal(right('/events'), 'last count')
  assert.equal(right('batch/jobs'), 'completions took age')
  assert.equal(right('batch/cronjobs'), 'active last age')
  assert.equal(right('/persistentvolumes'), 'capacity age')
  assert.equal(right('/persistentvolumeclaims'), 'capacity age')
  assert.equal(right('coordination.k8s.io/leases'), 'renewed age')
})

test('some columns may be hidden in a narrow table', () => {
  const spare = (kind) => columns(kind).filter(({ spare }) => spare).map(({ id }) => id).join(' ')
  assert.equal(spare('/pods'), 'restarts node ip')
  assert.equal(spare('/nodes'), 'roles version address cpu memory')
  assert.equal(spare('/events'), 'count')
  assert.equal(spare('/services'), 'ip outside')
  assert.equal(spare('apps/deployments'), 'image')
  assert.equal(spare('/configmaps'), 'labels')
})

test('statuses have a dot and names are bold', () => {
  for (const kind of ['/pods', 'batch/jobs', '/nodes', '/namespaces', '/persistentvolumes', '/persistentvolumeclaims', 'example.com/widgets']) {
    assert.deepEqual(columns(kind).filter(({ dot }) => dot).map(({ id }) => id), ['status'])
    assert.deepEqual(columns(kind).filter(({ strong }) => strong).map(({ id }) => id), ['name'])
  }
  assert.deepEqual(columns('/events').filter(({ dot, strong }) => dot || strong).map(({ id }) => id), ['type', 'reason'])
})
