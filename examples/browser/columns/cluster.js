// Defines the columns of infrastructure resources and of events.

import { condition, count, created, labels, lastSeen, name, namespace, plain, since } from './format.js'

/** @import { Column, Kube, TextColumn } from './format.js' */

/** @param {Kube} o */
function nodeStatus(o) {
  const ready = condition(o, 'Ready')?.status
  return (ready === 'True' ? 'Ready' : ready === 'False' ? 'Not ready' : 'Unknown') + (o.spec?.unschedulable ? ', cordoned' : '')
}

/** @type {(o: Kube, text: string) => string} */
const nodeTone = (o, text) => (text === 'Ready' ? 'ok' : text.startsWith('Ready') ? 'warn' : 'bad')
/** @type {(o: Kube) => string} */
const roles = (o) => Object.keys(o.metadata?.labels ?? {}).filter((l) => l.startsWith('node-role.kubernetes.io/')).map((l) => l.split('/')[1]).join(', ')
/** @type {(o: Kube) => Kube} */
const about = (o) => o.involvedObject ?? o.regarding ?? {}
/** @type {(tones: Record<string, string>) => TextColumn} */
const phase = (tones) => plain('status', 'Status', 110, (o) => (o.metadata?.deletionTimestamp ? 'Terminating' : o.status?.phase), {
  tone: (o, text) => tones[text] ?? 'warn', dot: true,
})
/** @type {(o: Kube) => number} */
const size = (o) => Object.keys(o.data ?? {}).length + Object.keys(o.binaryData ?? {}).length
/** @type {(port: Kube) => string} */
const port = ({ port, nodePort, protocol }) => port + (nodePort ? `:${nodePort}` : '') + (protocol === 'TCP' || !protocol ? '' : `/${protocol}`)

/** @type {Column[]} */
const events = [
  { id: 'last', title: 'Last', width: 64, time: lastSeen, end: true },
  plain('type', 'Type', 96, (o) => o.type, { tone: (o, text) => (text === 'Normal' ? 'ok' : 'warn'), dot: true }),
  plain('reason', 'Reason', 150, (o) => o.reason, { strong: true }),
  plain('object', 'Object', [170, 2], (o) => `${about(o).kind ?? ''}/${about(o).name ?? ''}`),
  plain('message', 'Message', [240, 5], (o) => o.message ?? o.note),
  count('count', 'Count', 68, (o) => o.series?.count ?? o.count ?? o.deprecatedCount ?? 1, { spare: true }),
  namespace,
]

/** @type {Record<string, Column[]>} */
export const cluster = {
  '/nodes': [
    name, plain('status', 'Status', 140, nodeStatus, { tone: nodeTone, dot: true }),
    plain('roles', 'Roles', 120, roles, { spare: true }), plain('version', 'Version', 110, (o) => o.status?.nodeInfo?.kubeletVersion, { spare: true }),
    plain('address', 'Address', 120, (o) => o.status?.addresses?.find((/** @type {Kube} */ a) => a.type === 'InternalIP')?.address, { spare: true }),
    count('cpu', 'CPU', 64, (o) => o.status?.capacity?.cpu, { spare: true }),
    plain('memory', 'Memory', 104, (o) => o.status?.capacity?.memory, { end: true, spare: true }),
    plain('pressure', 'Pressure', [120, 1], (o) => o.status?.conditions?.filter((/** @type {Kube} */ c) => c.type !== 'Ready' && c.status === 'True').map((/** @type {Kube} */ c) => c.type).join(', ') || 'none', {
      tone: (o, text) => (text === 'none' ? 'dim' : 'bad'),
    }), created,
  ],
  '/events': events,
  'events.k8s.io/events': events,
  '/namespaces': [name, phase({ Active: 'ok' }), labels, created],
  '/services': [
    namespace, name, plain('type', 'Type', 110, (o) => o.spec?.type ?? 'ClusterIP'), plain('ip', 'Cluster IP', 120, (o) => o.spec?.clusterIP, { spare: true }),
    plain('outside', 'External', 130, (o) => o.status?.loadBalancer?.ingress?.map((/** @type {Kube} */ i) => i.ip ?? i.hostname).join(', ') || '—', { spare: true }),
    plain('ports', 'Ports', [120, 1], (o) => o.spec?.ports?.map(port).join(', ')), created,
  ],
  '/configmaps': [namespace, name, count('keys', 'Keys', 64, size), labels, created],
  '/secrets': [namespace, name, plain('type', 'Type', [200, 1], (o) => o.type ?? 'Opaque'), labels, created],
  '/persistentvolumeclaims': [
    namespace, name, phase({ Bound: 'ok', Lost: 'bad' }), plain('capacity', 'Capacity', 92, (o) => o.status?.capacity?.storage, { end: true }),
    plain('class', 'Class', 130, (o) => o.spec?.storageClassName, { spare: true }), plain('volume', 'Volume', [160, 1], (o) => o.spec?.volumeName), created,
  ],
  '/persistentvolumes': [
    name, phase({ Bound: 'ok', Available: 'ok', Failed: 'bad' }), plain('capacity', 'Capacity', 92, (o) => o.spec?.capacity?.storage, { end: true }),
    plain('class', 'Class', 130, (o) => o.spec?.storageClassName, { spare: true }),
    plain('claim', 'Claim', [160, 1], (o) => o.spec?.claimRef && `${o.spec.claimRef.namespace}/${o.spec.claimRef.name}`), created,
  ],
  'networking.k8s.io/ingresses': [
    namespace, name, plain('class', 'Class', 110, (o) => o.spec?.ingressClassName),
    plain('hosts', 'Hosts', [180, 2], (o) => o.spec?.rules?.map((/** @type {Kube} */ r) => r.host ?? '*').join(', ')), created,
  ],
  'coordination.k8s.io/leases': [
    namespace, name, plain('holder', 'Holder', [180, 2], (o) => o.spec?.holderIdentity),
    { id: 'renewed', title: 'Renewed', width: 80, time: (o) => since(o.spec?.renewTime), end: true }, created,
  ],
}
