// Discovers the collections of a server.

import { RequestError, get } from './request.js'

/**
 * @import { Link } from './request.js'
 *
 * @typedef {object} Resource A collection of the server.
 * @property {string} group
 * @property {string} version the server's preferred version
 * @property {string} plural
 * @property {string} kind
 * @property {boolean} namespaced
 * @property {string[]} shortNames
 */

// The media type of the document that lists all collections of /api or /apis, so that two requests are enough.
const FORM = (/** @type {string} */ version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

/**
 * Returns the collections that can be listed and watched. Rejects with a RequestError.
 * @param {Link} link
 */
export async function discover(link) {
  const documents = await Promise.all(['/api', '/apis'].map((path) => read(link, path)))
  /** @type {Map<string, Resource>} */
  const found = new Map()
  for (const { metadata = {}, versions = [] } of documents.flatMap(({ items = [] }) => items)) {
    for (const { version, resources = [] } of versions) {
      for (const resource of resources) {
        const { resource: plural, verbs = [], scope, responseKind, shortNames = [] } = resource
        const group = metadata.name ?? '', name = `${group}/${plural}`
        // The versions are in order of preference, so the first one counts.
        if (found.has(name) || !verbs.includes('list') || !verbs.includes('watch')) continue
        found.set(name, { group, version, plural, kind: responseKind?.kind || plural, namespaced: scope === 'Namespaced', shortNames })
      }
    }
  }
  return [...found.values()]
}

/**
 * Returns a discovery document. It requests one format at a time, because a browser sends a longer Accept header only
 * if the server permits it with CORS headers. With `no-cache`, the browser sends the ETag of its copy, so that the server
 * need not send an unchanged document again.
 * @param {Link} link
 * @param {string} path
 */
async function read(link, path) {
  for (const version of ['v2', 'v2beta1']) { // servers before Kubernetes 1.30 know only v2beta1
    const document = await acceptable(get(link, path, { accept: FORM(version), cache: 'no-cache' }))
    if (document?.kind === 'APIGroupDiscoveryList') return document
  }
  throw new RequestError('malformed', `${link.server}${path} does not list collections: it is not a Kubernetes API server, or it is older than 1.26`)
}

/**
 * Returns the answer, or undefined if the server does not support the requested format.
 * @param {Promise<any>} answer
 */
async function acceptable(answer) {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RequestError && error.status === 406) return undefined
    throw error
  }
}

/**
 * Returns the heading of a collection, for example "Config Maps" for the kind ConfigMap. If the plural is irregular, it
 * returns the kind.
 * @param {Pick<Resource, 'kind' | 'plural'>} resource
 */
export function titleOf({ kind, plural }) {
  const words = kind.replace(/([a-z])([A-Z])/g, '$1 $2')
  const tail = plural.toLowerCase().startsWith(kind.toLowerCase()) ? plural.slice(kind.length) : null
  if (tail !== null) return words + tail
  return /y$/.test(kind) && /ies$/.test(plural) ? words.replace(/y$/, 'ies') : words
}
