// Knows the built-in resources of Kubernetes. A page does not load this file, unless it runs the WASM module itself.

import { ListWatchError } from './error.js'
import { pluralOf } from './plural.js'

/** The built-in resources of Kubernetes, by group and version. */
const BUILT_IN = {
  v1: 'configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates ' +
    'replicationcontrollers resourcequotas secrets serviceaccounts services',
  'apps/v1': 'controllerrevisions daemonsets deployments replicasets statefulsets',
  'autoscaling/v2': 'horizontalpodautoscalers',
  'batch/v1': 'cronjobs jobs',
  'coordination.k8s.io/v1': 'leases',
  'discovery.k8s.io/v1': 'endpointslices',
  'networking.k8s.io/v1': 'ingresses ingressclasses networkpolicies',
  'policy/v1': 'poddisruptionbudgets',
  'rbac.authorization.k8s.io/v1': 'clusterrolebindings clusterroles rolebindings roles',
  'scheduling.k8s.io/v1': 'priorityclasses',
  'storage.k8s.io/v1': 'csidrivers csinodes storageclasses volumeattachments',
  'admissionregistration.k8s.io/v1': 'mutatingwebhookconfigurations validatingwebhookconfigurations',
  'apiextensions.k8s.io/v1': 'customresourcedefinitions',
}

/** @param {string} plural */
const groupVersionOf = (plural) => Object.entries(BUILT_IN).find(([, plurals]) => plurals.split(' ').includes(plural))?.[0]

/** Returns the group, version and plural of a resource such as "pods" or "apps/v1/deployments". @param {string} resource */
export function parseResource(resource) {
  const parts = resource.split('/')
  if (parts.length > 3 || parts.includes('')) throw new ListWatchError('invalid', `listwatch: resource must look like "pods" or "group/version/plural", not "${resource}"`)
  const [plural = ''] = parts.slice(-1), similar = pluralOf(plural) // the plural if `resource` is a kind such as "Pod"
  const known = parts.length > 1 ? parts.slice(0, -1).join('/') : groupVersionOf(plural)
  const hint = groupVersionOf(similar) ? `use "${similar}", or ` : ''
  if (!known) throw new ListWatchError('invalid', `listwatch: unknown resource ${resource}: ${hint}add its group and version, for example "apps/v1/deployments"`)
  const [version = '', group = ''] = known.split('/').reverse()
  return { group, version, plural }
}
