// Finds the objects that an object refers to, and builds links to them.

import { format } from './route.js'

/**
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 *
 * @typedef {{ group: string, kind: string, name: string, namespace: string }} Reference
 * @typedef {{ title: string, text: string, href: string }} Link `href` is "" if the server does not list the collection.
 */

/** The kind of the objects that a controller creates, by the kind of the controller. */
export const OWNED = /** @type {Record<string, string>} */ ({
  Deployment: 'ReplicaSet', CronJob: 'Job', ReplicaSet: 'Pod', StatefulSet: 'Pod', DaemonSet: 'Pod', Job: 'Pod', ReplicationController: 'Pod',
})

/** @param {string | undefined} apiVersion */
const groupOf = (apiVersion = '') => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')

/**
 * Returns the objects that an object refers to, each with a title: its owners, its node, its namespace and, for an
 * event, the involved object.
 * @param {Kube} object
 * @returns {[string, Reference][]}
 */
export function referencesOf({ metadata = {}, spec, involvedObject, regarding }) {
  const { namespace = '', ownerReferences = [] } = metadata
  /** @type {(title: string, ref: Kube, where?: string) => [string, Reference]} */
  const to = (title, { apiVersion, kind, name }, where = '') => [title, { group: groupOf(apiVersion), kind, name, namespace: where }]
  const about = involvedObject ?? regarding
  return [
    ...namespace ? [to('Namespace', { kind: 'Namespace', name: namespace })] : [],
    ...ownerReferences.map((/** @type {Kube} */ owner) => to('Owner', owner, namespace)),
    ...typeof spec?.nodeName === 'string' && spec.nodeName ? [to('Node', { kind: 'Node', name: spec.nodeName })] : [],
    ...about?.name ? [to('Object', about, about.namespace)] : [],
  ]
}

/**
 * Returns the links of an object's overview. They lead to the objects that the object refers to, to the objects that it
 * owns and, for a node, to the Pods of the node.
 * @param {Kube} object
 * @param {Pick<Resource, 'group' | 'kind'>} resource the collection of the object
 * @param {Resource[]} resources all collections of the server
 * @param {string} chosen the namespace that the page shows, or ""
 */
export function linksOf(object, resource, resources, chosen) {
  const { name, namespace = '' } = object.metadata ?? {}
  /** @type {Link[]} */
  const links = referencesOf(object).map(([title, ref]) => ({ title, text: `${ref.kind}/${ref.name}`, href: hrefOf(ref, resources, chosen) }))
  /** @type {(kind: string, search: string) => void} */
  const searched = (kind, search) => {
    // These are the groups of the built-in kinds, because a custom resource may have the same kind.
    const target = resources.find((r) => r.kind === kind && ['', 'apps', 'batch'].includes(r.group))
    if (target) links.push({ title: 'Related', text: `${target.plural} of this ${resource.kind}`, href: format({ ...target, namespace, search }) })
  }
  if (OWNED[resource.kind]) searched(OWNED[resource.kind], `owner=${name}`)
  if (resource.kind === 'Node' && !resource.group) searched('Pod', `node=${name}`)
  return links
}

/**
 * Returns the link to an object, or "" if the server does not list its collection.
 * @param {Reference} ref
 * @param {Resource[]} resources
 * @param {string} chosen the namespace that the page shows, or ""
 */
function hrefOf({ group, kind, name, namespace }, resources, chosen) {
  const resource = resources.find((r) => r.kind === kind && r.group === group)
  if (!resource) return ''
  if (!resource.namespaced) return format({ ...resource, selected: name })
  return format({ ...resource, namespace: chosen && namespace, selected: `${namespace}/${name}` })
}
