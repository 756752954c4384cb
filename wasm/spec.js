// From the options to what the program is told.

import { ListWatchError } from './error.js'

// The groups and versions of what every Kubernetes has, so that its names are enough.
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

const KNOWN = new Set(['server', 'resource', 'path', 'namespace', 'name', 'labelSelector', 'fieldSelector', 'transport', 'token',
  'headers', 'credentials', 'project', 'indexes', 'persist', 'streamingLists', 'signal'])

/** What is followed, in a form that can be sent and compared, and the function that returns a token. */
export function specOf(options) {
  for (const name of Object.keys(options)) if (!KNOWN.has(name)) throw invalid(`there is no option ${name}`)
  const { transport = 'auto', token, project = [], indexes = {}, persist = false } = options
  if (!['auto', 'http', 'ws'].includes(transport)) throw invalid(`there is no transport ${transport}: it is auto, http or ws`)
  const spec = {
    endpoint: { server: serverOf(options.server), transport, headers: options.headers ?? {}, credentials: options.credentials ?? '' },
    ...resourceOf(options),
    labelSelector: options.labelSelector ?? '',
    fieldSelector: options.fieldSelector ?? '',
    project,
    indexes,
    persist,
    streamingLists: options.streamingLists ?? globalThis.process?.versions?.node !== undefined,
    asks: typeof token === 'function',
    token: typeof token === 'string' ? token : '',
  }
  return { spec, token: spec.asks ? token : undefined }
}

function resourceOf({ resource, path, namespace = '', name = '' }) {
  if ((resource === undefined) === (path === undefined)) throw invalid('give either resource, as "pods", or path')
  if (path !== undefined) return { path, name }
  const parts = resource.split('/')
  const [plural, version, group = ''] = parts.reverse()
  if (version !== undefined) return { group, version, plural, namespace, name }
  const known = Object.entries(BUILT_IN).find(([, plurals]) => plurals.split(' ').includes(plural))
  if (!known) throw invalid(`${resource} is not built in: give its group and version, as "example.com/v1/${resource}"`)
  const [knownVersion, knownGroup = ''] = known[0].split('/').reverse()
  return { group: knownGroup, version: knownVersion, plural, namespace, name }
}

function serverOf(server = '') {
  let url
  try {
    url = new URL(server, globalThis.location?.href)
  } catch (cause) {
    throw invalid(`the server's URL ${server ? 'does not parse' : 'is missing'}: it must look like https://host:port`, cause)
  }
  if (url.username || url.password) throw invalid("the server's URL must not have a user")
  return url.origin + url.pathname.replace(/\/$/, '')
}

const invalid = (message, cause) => new ListWatchError('invalid', `listwatch: ${message}`, { cause })
