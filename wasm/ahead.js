// Requests the first lists in a worker while the WASM module is loading, so that the lists do not have to wait for the module.

/** @import { Spec } from './spec.js' */

import { parseResource } from './resources.js'
import { Body, PENDING } from './streams.js'

const LIMIT = 2 << 20 // in bytes; many collections may wait for the module at the same time, and each needs this memory
const PLAIN = /^(\w[\w.-]*(\/|$))+$/ // segments of a path that need no escapes; the module rejects segments such as ".."

export class Ahead {
  /** @type {Map<string, Body>} the requests that the module has not taken */
  #bodies = new Map()

  /** Sends the first request of a collection. It returns a function that cancels the request unless it was taken. @param {Spec} spec */
  request(spec) {
    const request = firstList(spec)
    if (!request) return () => {}
    const { url, headers } = request, { credentials } = spec.endpoint, key = keyOf(url, headers, credentials)
    if (this.#bodies.has(key)) return () => {}
    const body = new Body(url, headers, credentials, () => {})
    body.readAhead = LIMIT
    this.#bodies.set(key, body)
    return () => { if (this.#bodies.get(key) === body && this.#bodies.delete(key)) body.close() }
  }

  /** Returns the response to this request if it was sent ahead. @param {string} url @param {[string, string][]} headers @param {string} credentials @param {() => void} wake */
  take(url, headers, credentials, wake) {
    const key = keyOf(url, headers, credentials), body = this.#bodies.get(key)
    this.#bodies.delete(key)
    // The module repeats a failed request, because the cause may be gone, unless the server asked for a delay.
    if (body?.state !== PENDING && body?.state !== 200 && !body?.retryAfter) return body?.close()
    body.wake = wake
    return body
  }
}

/**
 * Returns the module's first request for a collection, or undefined if only the module knows it. ahead.test.mjs compares both.
 * @param {Spec} spec
 * @returns {import('./streams.js').Request | undefined}
 */
function firstList({ endpoint, resource = '', namespace, name, labelSelector, fieldSelector, project, persist, streamingLists, asks, token }) {
  if (!PLAIN.test(`${resource}/${namespace}`) || name || persist || streamingLists || asks || /managedFields/.test(String(project))) return
  let parsed
  // eslint-disable-next-line no-restricted-syntax -- the collection reports the invalid resource
  try { parsed = parseResource(resource) } catch { return }
  const path = ['', ...parsed.group ? ['apis', parsed.group] : ['api'], parsed.version, ...namespace ? ['namespaces', namespace] : [], parsed.plural].join('/')
  const query = Object.entries({ labelSelector, fieldSelector, resourceVersion: '0', limit: '500', pretty: 'false' }).filter(([, value]) => value)
  /** @type {[string, string][]} */
  const headers = [['Accept', 'application/json;drop=metadata.managedFields'], ...Object.entries(endpoint.headers)]
  if (token) headers.push(['Authorization', `Bearer ${token}`])
  return { url: `${endpoint.server}${path}?${new URLSearchParams(query)}`, headers }
}

/** Returns a string that is equal for equal requests. @param {string} url @param {[string, string][]} headers @param {string} credentials */
function keyOf(url, headers, credentials) {
  const canonical = new URL(url)
  canonical.searchParams.sort() // also encodes the parameters again, because Go encodes more characters than URLSearchParams
  return JSON.stringify([canonical, [...new Headers(headers)], credentials]) // Headers sorts the names and makes them lowercase
}
