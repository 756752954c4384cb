// Defines the columns of workloads.

import { age, condition, count, created, name, namespace, outOf, plain, since } from './format.js'

/** @import { Column, Kube, TextColumn } from './format.js' */

/** @type {(o: Kube) => Kube[]} */
const statuses = (o) => [...o.status?.containerStatuses ?? []]
/** @type {(status: Kube) => string | undefined} */
const reasonOf = ({ state = {} }) => state.waiting?.reason ?? (state.terminated && (state.terminated.reason || `Exit ${state.terminated.exitCode}`))

/**
 * Returns the status of a Pod as kubectl shows it: the reason of a waiting or terminated container, or else the phase.
 * @param {Kube} o
 */
export function podStatus(o) {
  const { phase = 'Unknown', reason, initContainerStatuses = [] } = o.status ?? {}
  if (o.metadata?.deletionTimestamp) return reason === 'NodeLost' ? 'Unknown' : 'Terminating'
  const starting = initContainerStatuses.find((/** @type {Kube} */ c) => !c.ready && c.state?.terminated?.exitCode !== 0 && !c.started)
  if (starting) return `Init:${reasonOf(starting) ?? `${initContainerStatuses.indexOf(starting)}/${initContainerStatuses.length}`}`
  const reasons = statuses(o).map(reasonOf).filter(Boolean)
  const running = statuses(o).some((c) => c.state?.running)
  if (reasons.length && !(running && reasons.every((r) => r === 'Completed'))) return reasons.find((r) => r !== 'Completed') ?? reasons[0]
  return reason || phase
}

const WAITING = /^(Pending|ContainerCreating|PodInitializing|Terminating|Init:\d|NotReady|SchedulingGated|Unknown)/

/** @type {(o: Kube, text: string) => string} */
function podTone(o, text) {
  if (/^(Completed|Succeeded)$/.test(text)) return 'dim'
  if (WAITING.test(text)) return 'warn'
  if (text !== 'Running') return 'bad'
  return statuses(o).every((c) => c.ready) ? 'ok' : 'warn'
}

/** @type {(o: Kube, text: string) => string | undefined} */
function readyTone(o, text) {
  if (/^(Succeeded|Failed)$/.test(o.status?.phase)) return 'dim' // a Pod that has ended never becomes ready
  const [is, of] = text.split('/')
  return is === of ? undefined : 'warn'
}

/** @type {(replicas: (o: Kube) => number) => TextColumn} */
const ready = (replicas) => outOf('ready', 'Ready', 76, (o) => [o.status?.readyReplicas, replicas(o)])
const image = plain('image', 'Images', [160, 3], (o) => {
  const { containers = [] } = o.spec?.template?.spec ?? o.spec?.jobTemplate?.spec?.template?.spec ?? {}
  return containers.map((/** @type {Kube} */ c) => c.image?.replace(/^.*\//, '').replace(/@.*/, '')).join(', ')
}, { tone: () => 'dim', spare: true })

/** @param {Kube} o */
function jobStatus(o) {
  if (condition(o, 'Failed')?.status === 'True') return 'Failed'
  if (condition(o, 'Complete')?.status === 'True') return 'Complete'
  if (o.spec?.suspend) return 'Suspended'
  return o.status?.active ? 'Running' : 'Pending'
}

/** @type {Record<string, string>} */
const JOB_TONES = { Failed: 'bad', Complete: 'dim', Running: 'ok', Suspended: 'dim', Pending: 'warn' }

/** @param {Kube} o */
function took(o) {
  const from = since(o.status?.startTime), to = since(o.status?.completionTime)
  return Number.isNaN(to) ? '' : age(to - from)
}

/** @type {Record<string, Column[]>} */
export const workloads = {
  '/pods': [
    namespace, name,
    { ...outOf('ready', 'Ready', 64, (o) => [statuses(o).filter((c) => c.ready).length, o.spec?.containers?.length]), tone: readyTone },
    plain('status', 'Status', [154, 1], podStatus, { tone: podTone, dot: true }),
    count('restarts', 'Restarts', 92, (o) => statuses(o).reduce((n, c) => n + (c.restartCount ?? 0), 0), { tone: (o, text) => (text === '0' ? 'dim' : 'warn'), spare: true }),
    plain('node', 'Node', 120, (o) => o.spec?.nodeName, { spare: true }),
    plain('ip', 'IP', 110, (o) => o.status?.podIP, { tone: () => 'dim', spare: true }),
    created,
  ],
  'apps/deployments': [
    namespace, name, ready((o) => o.spec?.replicas ?? 1),
    count('current', 'Up to date', 108, (o) => o.status?.updatedReplicas ?? 0),
    count('available', 'Available', 100, (o) => o.status?.availableReplicas ?? 0),
    image, created,
  ],
  'apps/statefulsets': [namespace, name, ready((o) => o.spec?.replicas ?? 1), image, created],
  'apps/replicasets': [namespace, name, ready((o) => o.spec?.replicas ?? 1), image, created],
  'apps/daemonsets': [
    namespace, name,
    outOf('ready', 'Ready', 72, (o) => [o.status?.numberReady, o.status?.desiredNumberScheduled]),
    count('current', 'Up to date', 108, (o) => o.status?.updatedNumberScheduled), image, created,
  ],
  'batch/jobs': [
    namespace, name,
    plain('status', 'Status', 110, jobStatus, { tone: (o, text) => JOB_TONES[text], dot: true }),
    outOf('completions', 'Done', 72, (o) => [o.status?.succeeded, o.spec?.completions ?? 1]),
    plain('took', 'Took', 72, took, { rank: (o) => since(o.status?.completionTime) - since(o.status?.startTime), end: true }), image, created,
  ],
  'batch/cronjobs': [
    namespace, name, plain('schedule', 'Schedule', 130, (o) => o.spec?.schedule),
    plain('suspend', 'Suspended', 96, (o) => (o.spec?.suspend ? 'yes' : 'no'), { tone: (o, text) => (text === 'yes' ? 'warn' : 'dim') }),
    count('active', 'Active', 72, (o) => o.status?.active?.length),
    { id: 'last', title: 'Last', width: 64, time: (o) => since(o.status?.lastScheduleTime), end: true }, image, created,
  ],
  'autoscaling/horizontalpodautoscalers': [
    namespace, name, plain('target', 'Target', [140, 1], (o) => `${o.spec?.scaleTargetRef?.kind}/${o.spec?.scaleTargetRef?.name}`),
    count('min', 'Min', 56, (o) => o.spec?.minReplicas ?? 1), count('max', 'Max', 56, (o) => o.spec?.maxReplicas),
    count('replicas', 'Replicas', 80, (o) => o.status?.currentReplicas), created,
  ],
}
