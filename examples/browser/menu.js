// Groups the collections of a server for the menu.

/** @import { Resource } from './discovery.js' */

const WORKLOADS = 'Workloads', NETWORK = 'Network', CONFIG = 'Config', STORAGE = 'Storage', CLUSTER = 'Cluster', CUSTOM = 'Custom resources'
const GROUPS = [WORKLOADS, NETWORK, CONFIG, STORAGE, CLUSTER, CUSTOM]

/** The menu groups of collections in the core API group. The missing core collections belong to CLUSTER. @type {Record<string, string>} */
const CORE = {
  pods: WORKLOADS, replicationcontrollers: WORKLOADS, podtemplates: WORKLOADS, services: NETWORK, endpoints: NETWORK, configmaps: CONFIG,
  secrets: CONFIG, limitranges: CONFIG, resourcequotas: CONFIG, persistentvolumes: STORAGE, persistentvolumeclaims: STORAGE,
}
/** @type {[RegExp, string][]} The menu groups of collections in other API groups, by the pattern of the API group. */
const OTHERS = [
  [/^(apps|batch|autoscaling)$/, WORKLOADS], [/(^|\.)(networking|discovery)\.k8s\.io$/, NETWORK], [/^policy$/, CONFIG],
  [/(^|\.)storage\.k8s\.io$/, STORAGE], [/\.k8s\.io$/, CLUSTER],
]
/** The collections that come first in their groups. */
const FIRST = 'pods deployments statefulsets daemonsets jobs cronjobs services ingresses configmaps secrets persistentvolumeclaims nodes namespaces events'.split(' ')

/** @param {Resource} resource */
const groupOf = ({ group, plural }) => (group ? OTHERS.find(([pattern]) => pattern.test(group))?.[1] ?? CUSTOM : CORE[plural] ?? CLUSTER)

/**
 * Returns the groups of the menu with their collections. It omits empty groups. A collection has a `suffix`, its API
 * group, if it is a custom resource or another collection has the same plural.
 * @param {Resource[]} resources
 */
export function menu(resources) {
  const rank = (/** @type {Resource} */ { plural }) => (FIRST.includes(plural) ? FIRST.indexOf(plural) : FIRST.length)
  const ambiguous = (/** @type {Resource} */ { plural }) => resources.filter((other) => other.plural === plural).length > 1
  return GROUPS.map((name) => ({
    name,
    members: resources.filter((resource) => groupOf(resource) === name)
      .sort((a, b) => rank(a) - rank(b) || a.plural.localeCompare(b.plural) || a.group.localeCompare(b.group))
      .map((resource) => ({ resource, suffix: name === CUSTOM || ambiguous(resource) ? resource.group : '' })),
  })).filter(({ members }) => members.length)
}
