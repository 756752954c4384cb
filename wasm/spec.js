// Validates the options of listWatch and converts them to a Spec.

/** @import { ListWatchOptions } from './types.js' */

import { ListWatchError } from './error.js'
import { messageOf } from './messages.js'

/**
 * A Spec describes a collection. It can be cloned for a worker. Equal specs have equal JSON, because collections are shared by it.
 * @typedef {object} Spec
 * @property {{ server: string, transport: string, headers: Record<string, string>, credentials: string }} endpoint
 *   `credentials` is "" for the default of `fetch`
 * @property {string} [path] set instead of resource and namespace
 * @property {string | undefined} [resource]
 * @property {string} [namespace]
 * @property {string} name
 * @property {string} labelSelector
 * @property {string} fieldSelector
 * @property {readonly string[]} project
 * @property {Record<string, string>} indexes
 * @property {boolean | string} persist
 * @property {number} maxObjects 0 for no limit
 * @property {boolean} streamingLists
 * @property {boolean} asks whether the page has a function that returns tokens
 * @property {string} token the fixed token, or ""
 */

/** @type {(value: unknown) => value is string} */
const isString = (value) => typeof value === 'string'
/** Excludes iterables, such as arrays and Headers. @type {(value: unknown) => value is object} */
const isObject = (value) => typeof value === 'object' && !!value && !(Symbol.iterator in value)
/** @type {(value: unknown) => value is Record<string, string>} */
const areStrings = (value) => isObject(value) && Object.values(value).every(isString)
/** @type {(value: unknown) => value is string} */
const isToken = (value) => isString(value) && /^[\x21-\x7e]*$/.test(value)
/** @param {unknown} value */
const areHeaders = (value) => areStrings(value) &&
  Object.entries(value).every(([name, text]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(text))
/** @type {(value: unknown) => value is number} */
export const isDuration = (value) => typeof value === 'number' && value >= 0
/** @param {...unknown} all @returns {Check} */
const oneOf = (...all) => [`one of ${all.join(', ')}`, (value) => all.includes(value)]

/** @typedef {[words: string, fits: (value: unknown) => boolean]} Check a description of the allowed values, and a test for them */
/** @type {Check} */
const STRING = ['a string', isString]
/** @type {Check} */
const BOOLEAN = ['a boolean', (value) => typeof value === 'boolean']
/** @type {Check} */
const DURATION = ['a number of milliseconds', isDuration]
/** @type {Record<keyof ListWatchOptions | 'keepAlive' | 'keepPrevious' | 'throttle', Check>} */
const OPTIONS = {
  server: ['a string or a URL', (value) => isString(value) || value instanceof URL],
  resource: STRING,
  path: ['a path such as "/apis/example.com/v1/widgets"', (value) => isString(value) && value.startsWith('/')],
  namespace: STRING,
  name: ['a string that is not empty', (value) => isString(value) && value !== ''],
  labelSelector: STRING,
  fieldSelector: STRING,
  transport: oneOf('auto', 'http', 'ws'),
  token: ['a string without spaces or line breaks, or a function that returns one', (value) => isToken(value) || typeof value === 'function'],
  headers: ['an object with valid header names and values', areHeaders],
  credentials: oneOf('omit', 'same-origin', 'include'),
  project: ['an array of strings', (value) => Array.isArray(value) && value.every(isString)],
  // Each index is a field of an object's record, which has at most 255 fields (records.js). outbox.go relies on the limit 200.
  indexes: ['an object of at most 200 strings', (value) => areStrings(value) && Object.keys(value).length <= 200],
  persist: ['a boolean or a user name', (value) => isString(value) || typeof value === 'boolean'],
  maxObjects: ['a positive integer', (value) => Number.isInteger(value) && Number(value) > 0],
  streamingLists: BOOLEAN,
  trace: ['a function', (value) => typeof value === 'function'],
  signal: ['an AbortSignal', (value) => value instanceof AbortSignal],
  // The React hooks use these options. listWatch ignores them, so that both accept the same object.
  keepAlive: DURATION,
  keepPrevious: BOOLEAN,
  throttle: DURATION,
}

/**
 * Returns the spec and the token function. It throws a ListWatchError if an option is invalid.
 * @param {ListWatchOptions} options
 * @returns {{ spec: Spec, token: (() => Promise<string>) | undefined }}
 */
export function specOf(options) {
  check(options)
  const { token, project = [], indexes, persist = false } = options
  const spec = {
    endpoint: {
      server: serverOf(options.server),
      transport: options.transport ?? 'auto',
      headers: sorted(options.headers),
      credentials: options.credentials ?? '',
    },
    ...objectsOf(options),
    labelSelector: options.labelSelector ?? '',
    fieldSelector: options.fieldSelector ?? '',
    project,
    indexes: sorted(indexes),
    persist,
    maxObjects: options.maxObjects ?? 0,
    // Off by default in all browsers, because Chromium truncates the compressed streaming lists of Kubernetes 1.37.
    streamingLists: options.streamingLists ?? !!globalThis.process?.versions?.node,
    asks: typeof token === 'function',
    token: typeof token === 'string' ? token : '',
  }
  return { spec, token: typeof token === 'function' ? () => callToken(token) : undefined }
}

/** @param {Record<string, string>} [object] */
const sorted = (object = {}) => Object.fromEntries(Object.entries(object).sort())

/** @param {ListWatchOptions} options */
function check(options) {
  if (!isObject(options)) throw invalid('options must be an object such as { server: "https://host:port", resource: "pods" }')
  for (const [name, value] of Object.entries(options)) {
    if (name === 'namespaces') throw invalid('only the React hooks accept namespaces; it must be an array of names')
    if (!Object.hasOwn(OPTIONS, name)) throw invalid(`unknown option ${name}`)
    const [words, fits] = OPTIONS[/** @type {keyof typeof OPTIONS} */ (name)]
    if (value !== undefined && !fits(value)) throw invalid(`${name} must be ${words}`)
  }
  for (const path of [...options.project ?? [], ...Object.values(options.indexes ?? {})]) {
    // the JSONPath of kubectl, for example {.spec.nodeName}, or of other tools, for example $.spec.nodeName
    if (/^[{$]/.test(path)) throw invalid(`write "${path.replace(/^\{?\$?\.?|\}$/g, '')}" instead of "${path}"`)
  }
  if (options.transport === 'ws' && typeof WebSocket === 'undefined') throw invalid('WebSocket is missing: use Node 22 or later')
  if (options.token && Object.keys(options.headers ?? {}).some((name) => /^authorization$/i.test(name))) {
    throw invalid('use either the option token or the header Authorization')
  }
}

/**
 * Calls the token function and returns the token, or "" for none. The errors do not contain the returned value, which
 * may be a secret.
 * @param {() => unknown} token
 */
async function callToken(token) {
  let found
  try {
    found = await token()
  } catch (error) {
    throw new Error(`the token function failed: ${messageOf(error)}`, { cause: error })
  }
  found ??= ''
  if (!isToken(found)) throw new Error('the token function must return a string without spaces or line breaks')
  return found
}

/**
 * Returns the members of a spec that identify its objects.
 * @param {ListWatchOptions} options
 * @returns {Pick<Spec, 'path' | 'resource' | 'namespace' | 'name'>}
 */
function objectsOf({ resource, path, namespace = '', name = '' }) {
  if ((resource === undefined) === (path === undefined)) throw invalid('use either resource or path')
  if (path !== undefined && namespace) throw invalid('put the namespace into path')
  return path === undefined ? { resource, namespace, name } : { path, name }
}

// Returns the URL of the server without a trailing slash. The page's origin is the default and the base of relative
// URLs. The origin is "null" for a file and for a sandboxed frame, where the URL must be absolute.
/** @param {string | URL} [server] */
function serverOf(server = '') {
  const origin = globalThis.location?.origin
  let url
  try {
    url = new URL(server, origin === 'null' ? undefined : origin)
  } catch (cause) {
    throw invalid(`the server's URL ${server ? 'does not parse' : 'is missing'}: it must look like https://host:port`, cause)
  }
  if (!/^https?:$/.test(url.protocol)) throw invalid("the server's URL must begin with https:// or http://")
  if (url.username || url.password) throw invalid("the server's URL must not have a user: use the option token")
  if (url.search || url.hash) throw invalid("the server's URL must not have a query or a fragment")
  return url.origin + url.pathname.replace(/\/$/, '')
}

/** @param {string} message @param {unknown} [cause] */
const invalid = (message, cause) => new ListWatchError('invalid', `listwatch: ${message}`, { cause })
