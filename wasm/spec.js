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

// What an option may be, and the words for it.
export const isText = (value) => typeof value === 'string'
const isObject = (value) => typeof value === 'object' && value && !(Symbol.iterator in value) // as arrays, and Headers, whose members are none
const TEXT = ['a string', isText]
const TEXTS = ['an object of strings', (value) => isObject(value) && Object.values(value).every(isText)]
const isToken = (value) => isText(value) && /^[\x21-\x7e]*$/.test(value)
const areHeaders = (value) => TEXTS[1](value) &&
  Object.entries(value).every(([name, text]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(text))
const oneOf = (...all) => [all.map((one) => `"${one}"`).join(', ').replace(/, ([^,]*)$/, ' or $1'), (value) => all.includes(value)]
const OPTIONS = {
  server: ['a string or a URL', (value) => isText(value) || value instanceof URL],
  resource: TEXT,
  path: ['a path, as "/apis/example.com/v1/widgets"', (value) => isText(value) && value.startsWith('/')],
  namespace: TEXT,
  name: TEXT,
  labelSelector: TEXT,
  fieldSelector: TEXT,
  transport: oneOf('auto', 'http', 'ws'),
  token: ['a string without spaces and line ends, or a function that returns one', (value) => isToken(value) || typeof value === 'function'],
  headers: ['an object of strings, each of which a header may have', areHeaders],
  credentials: oneOf('omit', 'same-origin', 'include'),
  project: ['an array of strings', (value) => Array.isArray(value) && value.every(isText)],
  indexes: ['an object of at most 200 strings', (value) => TEXTS[1](value) && Object.keys(value).length <= 200], // a record has 255 fields
  persist: ["true, false, or a user's name", (value) => isText(value) || typeof value === 'boolean'],
  maxObjects: ['a whole number above 0', (value) => Number.isInteger(value) && value > 0],
  streamingLists: ['true or false', (value) => typeof value === 'boolean'],
  signal: ['an AbortSignal', (value) => value instanceof AbortSignal],
}

/** What is followed, in a form that can be sent and compared, and the function that returns a token. */
export function specOf(options) {
  if (!isObject(options)) throw invalid('give the options, as { server: "https://host:port", resource: "pods" }')
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name)) throw invalid(`there is no option ${name}`)
    const [words, fits] = OPTIONS[name]
    if (value !== undefined && !fits(value)) throw invalid(`${name} must be ${words}`)
  }
  if (options.transport === 'ws' && typeof WebSocket === 'undefined') {
    throw invalid('there is no WebSocket here: Node has it from version 22 on, or with --experimental-websocket')
  }
  if (options.token && Object.keys(options.headers ?? {}).some((name) => /^authorization$/i.test(name))) throw invalid('give either token or the header Authorization')
  const { token, project = [], indexes = {}, persist = false } = options
  const spec = {
    endpoint: {
      server: serverOf(options.server),
      transport: options.transport ?? 'auto',
      headers: options.headers ?? {},
      credentials: options.credentials ?? '',
    },
    ...resourceOf(options),
    labelSelector: options.labelSelector ?? '',
    fieldSelector: options.fieldSelector ?? '',
    project,
    indexes,
    persist,
    maxObjects: options.maxObjects ?? 0,
    streamingLists: options.streamingLists ?? globalThis.process?.versions?.node !== undefined,
    asks: typeof token === 'function',
    token: typeof token === 'string' ? token : '',
  }
  return { spec, token: spec.asks ? () => ask(token) : undefined }
}

/** Asks a caller's function for a token; none is "". What it must not return is not repeated: it may be a token all the same. */
async function ask(token) {
  let found
  try {
    found = await token()
  } catch (error) {
    throw new Error(`the token function failed: ${error?.message ?? error}`, { cause: error })
  }
  if (!isToken(found ?? '')) throw new Error('the token function must return a string without spaces and line ends')
  return found ?? ''
}

function resourceOf({ resource, path, namespace = '', name = '' }) {
  if ((resource === undefined) === (path === undefined)) throw invalid('give either resource, as "pods", or path')
  if (path !== undefined && namespace) throw invalid('give the namespace within the path, or resource in place of path')
  if (path !== undefined) return { path, name }
  const parts = resource.split('/')
  if (parts.length > 3 || parts.includes('')) throw invalid(`resource must be as "pods" or "group/version/plural", and not "${resource}"`)
  const [plural, version, group = ''] = parts.reverse()
  if (version !== undefined) return { group, version, plural, namespace, name }
  const known = Object.entries(BUILT_IN).find(([, plurals]) => plurals.split(' ').includes(plural))
  if (!known) throw invalid(`${resource} is not built in: give its group and version, as "apps/v1/deployments"`)
  const [knownVersion, knownGroup = ''] = known[0].split('/').reverse()
  return { group: knownGroup, version: knownVersion, plural, namespace, name }
}

// Returns the URL of the server without a trailing slash. The page's origin is the default and the base of relative URLs.
// The origin is "null" for a file and for a sandboxed frame: there the server must be absolute.
function serverOf(server = '') {
  const origin = globalThis.location?.origin
  let url
  try {
    url = new URL(server, origin === 'null' ? undefined : origin)
  } catch (cause) {
    throw invalid(`the server's URL ${server ? 'does not parse' : 'is missing'}: it must look like https://host:port`, cause)
  }
  if (!/^https?:$/.test(url.protocol)) throw invalid("the server's URL must begin with https:// or http://")
  if (url.username || url.password) throw invalid("the server's URL must not have a user: give a token")
  if (url.search || url.hash) throw invalid("the server's URL must end with its path")
  return url.origin + url.pathname.replace(/\/$/, '')
}

const invalid = (message, cause) => new ListWatchError('invalid', `listwatch: ${message}`, { cause })
