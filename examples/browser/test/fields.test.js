import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf } from '../columns/index.js'
import { fieldsOf } from '../columns/fields.js'

const at = '2026-01-02T03:04:05Z'
const meta = { name: 'a', namespace: 'shop', creationTimestamp: at, labels: { app: 'web', 'node-role.kubernetes.io/worker': '' }, annotations: { much: 'text' } }
const template = { spec: { containers: [{ name: 'c', image: 'host/web:1', args: ['x'] }] } }
const conditions = [{ type: 'Ready', status: 'False', reason: 'Because', message: 'long' }, { type: 'Failed', status: 'True' }, { type: 'DiskPressure', status: 'True' }]
const status = (state, ready = false) => ({ name: 'c', image: 'host/web:1', ready, started: false, restartCount: 3, state })

// Sample objects by resource path. Together they cover every branch of the column code.
const SAMPLES = {
  '/pods': [
    { spec: { nodeName: 'n1', containers: template.spec.containers }, status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [status({ running: {} }, true)] } },
    { spec: { containers: template.spec.containers }, status: { phase: 'Pending', initContainerStatuses: [status({ waiting: { reason: 'CrashLoopBackOff' } })] } },
    { spec: {}, status: { phase: 'Running', initContainerStatuses: [{ ...status({}), started: true }], containerStatuses: [status({ terminated: { exitCode: 2 } })] } },
    { metadata: { ...meta, deletionTimestamp: at }, status: { phase: 'Failed', reason: 'NodeLost' } },
  ],
  'apps/deployments': [{ spec: { replicas: 3, template }, status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 } }],
  'apps/statefulsets': [{ spec: { replicas: 3, template }, status: { readyReplicas: 1 } }],
  'apps/replicasets': [{ spec: { replicas: 3, template }, status: { readyReplicas: 1 } }],
  'apps/daemonsets': [{ spec: { template }, status: { numberReady: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 3 } }],
  'batch/jobs': [
    { spec: { template, completions: 4 }, status: { succeeded: 2, startTime: at, completionTime: '2026-01-02T03:09:05Z', conditions } },
    { spec: { template, suspend: true } }, { spec: {}, status: { active: 1 } },
  ],
  'batch/cronjobs': [{ spec: { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template } } }, status: { active: [{ name: 'x' }, { name: 'y' }], lastScheduleTime: at } }],
  'autoscaling/horizontalpodautoscalers': [{ spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 5 }, status: { currentReplicas: 3 } }],
  '/nodes': [{
    spec: { unschedulable: true },
    status: { conditions, nodeInfo: { kubeletVersion: 'v1' }, addresses: [{ type: 'InternalIP', address: '10.1.1.1' }], capacity: { cpu: '8', memory: '16Gi' } },
  }],
  '/events': [
    { type: 'Warning', reason: 'Failed', message: 'why', count: 3, lastTimestamp: at, involvedObject: { kind: 'Pod', name: 'web' } },
    { type: 'Normal', note: 'why', eventTime: at, series: { count: 7, lastObservedTime: at }, regarding: { kind: 'Pod', name: 'web' } },
    { deprecatedLastTimestamp: '2026-03-02T03:04:05Z', deprecatedCount: 4 }, { eventTime: '2026-04-02T03:04:05Z' },
  ],
  '/namespaces': [{ status: { phase: 'Active' } }],
  '/services': [{ spec: { type: 'LoadBalancer', clusterIP: '10.2.2.2', ports: [{ port: 80, nodePort: 30080, protocol: 'UDP' }] }, status: { loadBalancer: { ingress: [{ hostname: 'h' }] } } }],
  '/configmaps': [{ data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } }],
  '/secrets': [{ type: 'kubernetes.io/tls' }],
  '/persistentvolumeclaims': [{ spec: { storageClassName: 'fast', volumeName: 'v' }, status: { phase: 'Bound', capacity: { storage: '1Gi' } } }],
  '/persistentvolumes': [{ spec: { capacity: { storage: '1Gi' }, storageClassName: 'fast', claimRef: { namespace: 'shop', name: 'c' } }, status: { phase: 'Bound' } }],
  'networking.k8s.io/ingresses': [{ spec: { ingressClassName: 'nginx', rules: [{ host: 'a.example' }, {}] } }],
  'coordination.k8s.io/leases': [{ spec: { holderIdentity: 'me', renewTime: at } }],
  'example.com/widgets': [{ status: { conditions } }, { status: { conditions: [{ type: 'Available', status: 'True' }] } }, { status: { phase: 'Running' } }, { status: { state: 'Failed' } }],
}
SAMPLES['events.k8s.io/events'] = SAMPLES['/events']

// Returns a copy of a value with only the given paths, like the option `project` of the package.
function project(value, paths) {
  if (paths.some((path) => !path.length)) return value
  if (Array.isArray(value)) return value.map((element) => project(element, paths.filter(([step]) => step === '[*]').map(([, ...rest]) => rest)))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.keys(value).filter((key) => paths.some(([step]) => step === key))
    .map((key) => [key, project(value[key], paths.filter(([step]) => step === key).map(([, ...rest]) => rest))]))
}

const ALWAYS = ['metadata.name', 'metadata.namespace']

for (const [kind, samples] of Object.entries(SAMPLES)) {
  test(`the requested fields contain all data that the columns of ${kind} show`, () => {
    const [group, plural] = kind.split('/'), resource = { group, plural, namespaced: true }
    const paths = [...ALWAYS, ...fieldsOf(resource)].map((path) => path.replaceAll('[*]', '.[*]').split('.'))
    for (const sample of samples) {
      const whole = { metadata: meta, ...sample }, part = project(whole, paths)
      assert.equal(part.metadata.annotations, undefined)
      for (const column of columnsOf(resource, '')) {
        const seen = (o) => [column.text?.(o), column.time?.(o), column.rank?.(o), column.text && column.tone?.(o, column.text(o))]
        assert.deepEqual(seen(part), seen(whole), column.id)
      }
    }
  })
}
