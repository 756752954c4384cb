// Simulates a cluster for tests of pages.

/** @import { Client } from './host.js' */
/** @import { Row } from './records.js' */
/** @import { Spec } from './spec.js' */
/** @import { ErrorCode, KubernetesObject } from './types.js' */
/** @import { Matches } from './matching.js' */

import { fieldMatcher, fieldOf, labelMatcher, project } from './matching.js'
import { ADDED, DELETED, INTERRUPTED, LIVE, MODIFIED, RESET, STOPPED, SYNCED, encode } from './records.js'
import { pluralOf } from './plural.js'
import { parseResource } from './resources.js'

/**
 * A simulated failure of all requests, or of the requests for one namespace.
 * @typedef {{ status?: number | undefined, message: string, namespace?: string | undefined }} Failure
 */

/** The error code and the Status reason for each HTTP status. @type {Record<number, [code: ErrorCode, reason: string]>} */
const STATUSES = {
  400: ['invalid', 'BadRequest'], 401: ['unauthorized', 'Unauthorized'], 403: ['forbidden', 'Forbidden'], 404: ['not-found', 'NotFound'],
  410: ['expired', 'Expired'], 422: ['invalid', 'Invalid'], 429: ['too-many-requests', 'TooManyRequests'],
}
const PERMANENT = [400, 401, 403, 404, 422] // like isPermanent in causes.go

/** Returns `namespace/name`, or `name` for an object without a namespace. @param {KubernetesObject} object */
export const keyOf = ({ metadata }) => (metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : metadata?.name ?? '')

/** The stored objects of one resource, and the watches that follow them. */
export class FakeResource {
  /** @type {Map<string, KubernetesObject>} by key */
  objects = new Map()
  /** @type {Set<FakeWatch>} */
  watches = new Set()
  /** @type {Failure[]} */
  failures = []
}

/** A watch of one collection. */
export class FakeWatch {
  #client
  #fits
  #spec
  #resource
  #place
  #synced = false
  /** @type {Map<string, unknown>} the objects that the collection has received, by key */
  #sent = new Map()

  /** @param {FakeResource} resource @param {Spec} spec @param {Client} client */
  constructor(resource, spec, client) {
    this.#resource = resource
    this.#spec = spec
    this.#client = client
    this.#place = placeOf(spec)
    this.#fits = /** @type {Matches[]} */ ([])
  }

  /** The failure that affects this watch; undefined if there is none. */
  get failure() {
    return this.#resource.failures.find(({ namespace }) => namespace === undefined || namespace === this.#place.namespace)
  }

  /**
   * Sends the current objects and starts the watch, or reports the failure.
   * @param {number} version the current resourceVersion
   */
  start(version) {
    try {
      this.#fits = [labelMatcher(this.#spec.labelSelector), fieldMatcher(this.#spec.fieldSelector)]
    } catch (error) {
      return this.fail({ status: 400, message: /** @type {Error} */ (error).message })
    }
    const { failure } = this
    if (failure) return this.fail(failure)
    const keys = new Set([...this.#sent.keys(), ...this.#resource.objects.keys()])
    const rows = [...keys].sort().flatMap((key) => this.#update(key, version, '1'))
    this.#synced = true
    this.#send([[RESET], ...rows, [SYNCED, String(version)], [LIVE, String(version)]])
  }

  /** Sends the changes of the objects with these keys. @param {string[]} keys @param {number} version */
  update(keys, version) {
    if (!this.failure) this.#send(keys.flatMap((key) => this.#update(key, version, '')))
  }

  /**
   * Returns the record that brings the collection up to date with one object, or an empty array if nothing changed.
   * @param {string} key
   * @param {number} version
   * @param {string} inferred "1" if a deletion is inferred from a list
   * @returns {Row[]}
   */
  #update(key, version, inferred) {
    const object = this.#resource.objects.get(key), known = this.#sent.get(key)
    if (!object || !this.#includes(object)) {
      return this.#sent.delete(key) ? [[DELETED, key, String(version), inferred]] : []
    }
    if (object === known) return []
    this.#sent.set(key, object)
    const { uid = '', resourceVersion = '' } = object.metadata ?? {}
    const fields = [key, String(version), uid, resourceVersion, resourceVersion, ...Object.values(this.#spec.indexes).map((path) => fieldOf(object, path))]
    return [[known ? MODIFIED : ADDED, ...fields, this.#textOf(object)]]
  }

  /** @param {KubernetesObject} object */
  #includes(object) {
    const { namespace, name } = this.#place, { metadata } = object
    return (!namespace || metadata?.namespace === namespace) && (!name || metadata?.name === name) && this.#fits.every((fits) => fits(object))
  }

  /** Returns the object's JSON with only the fields that the collection keeps. @param {KubernetesObject} object */
  #textOf(object) {
    const { project: paths, indexes } = this.#spec
    if (!paths.length) return JSON.stringify(object)
    // The module always keeps these fields, too. As in host.js, a path to one array element keeps all elements.
    const identity = ['apiVersion', 'kind', ...['name', 'namespace', 'uid', 'resourceVersion'].map((name) => `metadata.${name}`)]
    return JSON.stringify(project(object, [...identity, ...paths, ...Object.values(indexes)].map((path) => path.replace(/\[\d+\]/g, '[*]'))))
  }

  /** Interrupts the collection, or stops it if a retry cannot help. @param {Failure} failure */
  fail({ status = 0, message }) {
    const [code, reason] = STATUSES[status] ?? [status ? 'status' : 'network', '']
    const stopped = PERMANENT.includes(status) && !this.#synced
    if (stopped) this.#resource.watches.delete(this)
    // The record announces a relist in one second, although only recover() ends the interruption.
    this.#send([[stopped ? STOPPED : INTERRUPTED, code, message, String(status || ''), reason, '1000', '1']])
  }

  /** Stops the collection because the cluster is closed. */
  close() {
    this.#send([[STOPPED, 'aborted', 'listwatch: the fake cluster was closed', '', '', '0', '']])
  }

  /** @param {Row[]} rows */
  #send(rows) {
    if (rows.length) this.#client.records(encode(rows))
  }
}

/** Returns the ID `group/plural` of a collection's resource, and the namespace and name that it selects. @param {Spec} spec */
export function placeOf({ path, resource = '', namespace = '', name }) {
  if (path === undefined) return { id: idOf(resource), namespace, name }
  // The path is, for example, /api/v1/pods or /apis/apps/v1/namespaces/shop/deployments.
  const [, ofGroup = '', ofNamespace = '', ofPlural = ''] = path.match(/\/apis?(?:\/([^/]+)(?=\/[^/]+\/))?\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)$/) ?? []
  return { id: `${ofGroup}/${ofPlural}`, namespace: ofNamespace, name }
}

/** Returns the ID `group/plural` of a resource name such as "pods". @param {string} resource */
export function idOf(resource) {
  const { group, plural } = parseResource(resource)
  return `${group}/${plural}`
}

/**
 * Returns the ID `group/plural` of an object's resource.
 * @param {KubernetesObject} object
 * @param {string | undefined} resource the resource name; required if the object has no kind or its plural is irregular
 */
export function resourceIdOf({ apiVersion = '', kind }, resource) {
  if (resource !== undefined) return idOf(resource)
  if (!kind) throw new Error('listwatch: set kind on the object, or pass { resource: "pods" }')
  if (!apiVersion) return idOf(pluralOf(kind)) // a built-in resource
  return `${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}/${pluralOf(kind)}`
}
