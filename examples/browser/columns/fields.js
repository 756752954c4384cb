// Lists the fields that the columns read. The API server sends whole objects, but the table's collection keeps only these
// fields, about 10 % of a typical object. A new column needs its fields here.

/** @import { Printed } from './printer.js' */

const OWNERS = 'metadata.ownerReferences[*].apiVersion metadata.ownerReferences[*].kind metadata.ownerReferences[*].name'
// Every kind needs the labels and the owners for the search, the owners also for links and for lists of owned objects, and the
// two times for the age and the status "Terminating". The package always keeps the name, the namespace and the UID.
const ALWAYS = `metadata.labels metadata.creationTimestamp metadata.deletionTimestamp ${OWNERS}`
const CONDITIONS = 'status.conditions[*].type status.conditions[*].status status.conditions[*].reason'
const GENERIC = `${CONDITIONS} status.phase status.state`

const inContainers = (/** @type {string} */ kind) => ['name', 'ready', 'started', 'restartCount', 'state'].map((field) => `status.${kind}[*].${field}`).join(' ')
const replicas = 'spec.replicas status.readyReplicas'
const image = 'spec.template.spec.containers[*].image'

const EVENTS = 'type reason message note count deprecatedCount series lastTimestamp deprecatedLastTimestamp eventTime ' +
  ['involvedObject', 'regarding'].flatMap((object) => ['apiVersion', 'kind', 'name', 'namespace'].map((field) => `${object}.${field}`)).join(' ')

/** @type {Record<string, string>} The fields by group and plural. The group of core resources is "". */
const KINDS = {
  '/pods': `spec.nodeName spec.containers[*].name status.phase status.reason status.podIP ${inContainers('containerStatuses')} ${inContainers('initContainerStatuses')}`,
  'apps/deployments': `${replicas} status.updatedReplicas status.availableReplicas ${image}`,
  'apps/statefulsets': `${replicas} ${image}`,
  'apps/replicasets': `${replicas} ${image}`,
  'apps/daemonsets': `status.numberReady status.desiredNumberScheduled status.updatedNumberScheduled ${image}`,
  'batch/jobs': `${CONDITIONS} spec.suspend spec.completions status.active status.succeeded status.startTime status.completionTime ${image}`,
  'batch/cronjobs': 'spec.schedule spec.suspend status.active[*].name status.lastScheduleTime spec.jobTemplate.spec.template.spec.containers[*].image',
  'autoscaling/horizontalpodautoscalers': 'spec.scaleTargetRef spec.minReplicas spec.maxReplicas status.currentReplicas',
  '/nodes': `${CONDITIONS} spec.unschedulable status.nodeInfo.kubeletVersion status.addresses status.capacity.cpu status.capacity.memory`,
  '/events': EVENTS,
  'events.k8s.io/events': EVENTS,
  '/namespaces': 'status.phase',
  '/services': 'spec.type spec.clusterIP spec.ports status.loadBalancer.ingress',
  '/configmaps': 'data binaryData', // with the values, because a projection cannot keep only the keys
  '/secrets': 'type',
  '/persistentvolumeclaims': 'spec.storageClassName spec.volumeName status.phase status.capacity.storage',
  '/persistentvolumes': 'spec.storageClassName spec.claimRef.namespace spec.claimRef.name status.phase spec.capacity.storage',
  'networking.k8s.io/ingresses': 'spec.ingressClassName spec.rules[*].host',
  'coordination.k8s.io/leases': 'spec.holderIdentity spec.renewTime',
}

/**
 * Returns the paths of the fields to keep for a collection.
 * @param {{ group: string, plural: string }} resource
 * @param {Printed} [printed] the columns that the server defines
 */
// Needs trim, because printed.fields is empty if the server computes the cells.
export const fieldsOf = ({ group, plural }, printed) => `${ALWAYS} ${KINDS[`${group}/${plural}`] ?? printed?.fields.join(' ') ?? GENERIC}`.trim().split(' ')
