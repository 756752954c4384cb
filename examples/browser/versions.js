// Loads the full object of a row in current and past versions, because the table contains only a few fields. Servers
// keep past versions for some minutes. Versions opens no watch, because browsers allow only six connections to an
// HTTP/1.1 server.

import { RequestError, get, messageOf } from './request.js'

/**
 * @import { Item } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 * @import { Link } from './request.js'
 *
 * @typedef {object} Options
 * @property {string} [asOf] a resourceVersion of the collection at which the object had this version
 * @property {boolean} [current] also request the current object and save it as `newest`
 *
 * @typedef {{ object: Kube, reason?: undefined } | { object?: undefined, reason: string }} Result
 * The object, or the reason why the server did not return it.
 */

const MAX_VERSIONS = 60 // the maximum number of stored versions; half as many may be pending

export class Versions {
  /** @type {Kube | undefined} The object in the latest response to a request for it. It remains after a deletion. */
  newest
  arrivals = 0 // number of completed requests, so that the details pane can detect new results
  /** @type {Map<string, Result>} */
  #loaded = new Map()
  /** @type {Map<string, Options>} */
  #pending = new Map()
  #busy = false // whether #loadPending is running; it sends one request at a time
  #ended = new AbortController()
  #link
  #path
  #name
  #notify

  /**
   * @param {Link} link
   * @param {Resource} resource
   * @param {Pick<Item, 'namespace' | 'name'>} item the item of the row
   * @param {() => void} notify called after each answer
   * @param {Kube} [newest] the result of earlier requests
   */
  constructor(link, { group, version, plural }, { namespace, name }, notify, newest) {
    this.#link = link
    this.#path = ['', group ? `apis/${group}` : 'api', version, ...(namespace ? ['namespaces', namespace] : []), plural].join('/')
    this.#name = name
    this.#notify = notify
    this.newest = newest
  }

  get closed() { return this.#ended.signal.aborted }

  /**
   * Returns the result for a resourceVersion of the object, or undefined until it arrives.
   * @param {string} version
   * @param {Options} [how]
   */
  at(version, how = {}) {
    const known = this.#loaded.get(version)
    if (known) return known
    if (!this.#pending.has(version)) this.#pending.set(version, how)
    if (!this.#busy) this.#loadPending().catch(reportError)
    return undefined
  }

  /** Cancels pending requests. */
  close() {
    this.#ended.abort()
  }

  async #loadPending() {
    this.#busy = true
    for (const [version, how] of this.#pending) { // includes versions added during the loop
      // For example, an item may have no metadata. An exception would leave #busy set, so no other version would load.
      const answer = await this.#load(version, how).catch(malformed)
      if (this.#ended.signal.aborted) return
      this.#pending.delete(version)
      this.#loaded.set(version, answer)
      this.arrivals++
      if (how.current) this.newest = answer.object ?? this.newest
      this.#evict()
      this.#notify()
    }
    this.#busy = false
  }

  #evict() {
    drop(this.#loaded, MAX_VERSIONS)
    drop(this.#pending, MAX_VERSIONS / 2)
  }

  /**
   * @param {string} version
   * @param {Options} how
   * @returns {Promise<Result>}
   */
  async #load(version, { asOf, current }) {
    const past = asOf ? await this.#loadPast(asOf) : { reason: 'the time of this version is unknown' }
    if (isAt(past, version)) return past
    if (!current) return past.object ? { reason: 'the object had a different version at that time' } : past
    const now = await this.#get(`/${encodeURIComponent(this.#name)}`)
    if (!now.object) return now.status === 404 ? { reason: 'the object no longer exists' } : now
    this.newest = now.object // even if it is newer than the requested version
    return isAt(now, version) ? now : { reason: 'the object has changed since then' }
  }

  /**
   * Requests the object at a past resourceVersion of the collection. Only a list supports this.
   * @param {string} asOf
   * @returns {Promise<Result>}
   */
  async #loadPast(asOf) {
    const query = new URLSearchParams({ fieldSelector: `metadata.name=${this.#name}`, resourceVersion: asOf, resourceVersionMatch: 'Exact' })
    const answer = await this.#get(`?${query}`)
    if (!answer.object) return answer.status === 410 ? { reason: 'the server no longer keeps this version' } : answer
    const list = answer.object
    const item = list.items?.find((/** @type {Kube} */ { metadata }) => metadata.name === this.#name)
    return item ? { object: withoutManagedFields({ apiVersion: list.apiVersion, kind: list.kind?.replace(/List$/, ''), ...item }) } : { reason: 'the object did not exist at that time' }
  }

  /**
   * @param {string} rest the rest of the path
   * @returns {Promise<Result & { status?: number }>}
   */
  async #get(rest) {
    try {
      return { object: withoutManagedFields(await get(this.#link, this.#path + rest, { signal: this.#ended.signal })) }
    } catch (error) {
      if (error instanceof RequestError) return { reason: error.message, status: error.status }
      throw error
    }
  }
}

/**
 * Removes the oldest entries.
 * @param {Map<string, unknown>} map
 * @param {number} most
 */
function drop(map, most) {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

/** @type {(error: unknown) => Result} */
const malformed = (error) => ({ reason: `the response is malformed: ${messageOf(error)}` })

/** @type {(answer: Result, version: string) => boolean} */
const isAt = ({ object }, version) => object?.metadata?.resourceVersion === version

/**
 * Removes managedFields, as the package does.
 * @param {Kube} object
 */
function withoutManagedFields(object) {
  delete object.metadata?.managedFields
  return object
}
