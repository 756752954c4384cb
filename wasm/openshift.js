'use client'
// Implements listwatch/openshift: the watch hooks of OpenShift console's plugin SDK. openshift.d.ts is generated from this file.

/** @import { KubernetesObject, ListWatchError, ListWatchOptions } from './index.js' */
/** @import { ListView, UseListWatchOptions } from './react.js' */

import { useMemo } from 'react'
import { useListWatches } from './react.js'
import { pluralOf } from './plural.js'

/** @typedef {{ group?: string, version: string, kind: string }} K8sGroupVersionKind */
/**
 * Any Kubernetes object. Its type is less strict than `KubernetesObject`, so that it includes the SDK's `K8sResourceCommon`.
 * @typedef {{ apiVersion?: string, kind?: string, metadata?: object }} K8sResourceCommon
 */
/**
 * A label selector. An object of labels such as `{ app: "web" }` is short for `matchLabels`.
 * @typedef {{ matchLabels?: { [key: string]: string }, matchExpressions?: { key: string, operator: string, values?: string[] }[] }} Selector
 */
/**
 * The parameters of a watch. `limit` and `optional` have no effect, because the hooks always load complete lists.
 * @typedef {object} WatchK8sResource
 * @property {K8sGroupVersionKind} [groupVersionKind]
 * @property {string} [kind] a reference such as `"apps~v1~Deployment"`, or a built-in kind such as `"Pod"`
 * @property {string} [name]
 * @property {string} [namespace]
 * @property {boolean} [isList]
 * @property {Selector} [selector]
 * @property {boolean} [namespaced] if false, `namespace` is ignored
 * @property {number} [limit]
 * @property {string} [fieldSelector]
 * @property {boolean} [optional]
 * @property {boolean} [partialMetadata] loads only the metadata of the objects
 */
/**
 * The options of `createWatchHooks`. They apply to every watch.
 * @typedef {object} MoreOptions
 * @property {Record<string, string>} [plurals] irregular plurals by group and kind, for example `{ "example.com~Sheep": "sheep" }`
 */
/** @typedef {Pick<ListWatchOptions, 'server' | 'token' | 'headers' | 'credentials' | 'transport' | 'persist'> & MoreOptions} WatchHookOptions */
/**
 * An error of a watch. It has the members of the console's HTTP errors. Its `cause` is the `ListWatchError`.
 * @typedef {Error & { code?: number, response?: { status: number } }} LoadError
 */
/**
 * @template R
 * @typedef {[data: R, loaded: boolean, loadError: any]} WatchK8sResult `loadError` is a `LoadError` or undefined
 */
/**
 * @template R
 * @typedef {{ data: R, loaded: boolean, loadError: any }} WatchK8sResultsObject
 */

/**
 * Returns both hooks for a server other than the console's, or for kinds with irregular plurals.
 * @param {WatchHookOptions} [options]
 */
export function createWatchHooks(options = {}) {
  /**
   * Watches a list or a single object. It returns the data, whether the data is loaded, and the error.
   * @template {K8sResourceCommon | K8sResourceCommon[]} R
   * @param {WatchK8sResource | null | undefined} resource
   * @returns {WatchK8sResult<R>}
   */
  const useK8sWatchResource = (resource) => {
    const { list } = useListWatches({ list: optionsOf(resource, options) })
    // The result depends on these values and the view. `resource` itself may be a new object in each render.
    const asList = resource?.isList, kind = kindOf(resource), name = `${kind?.group}~${kind?.version}~${kind?.kind}`
    return useMemo(() => {
      if (!resource) return [/** @type {any} */ (undefined), true, undefined]
      const { data, loaded, loadError } = resultOf(resource, list)
      return [data, loaded, loadError]
    }, [list, !resource, asList, name])
  }

  /**
   * Watches several resources, and returns the results by key.
   * @template {{ [key: string]: K8sResourceCommon | K8sResourceCommon[] }} R
   * @param {{ [K in keyof R]: WatchK8sResource }} resources
   * @returns {{ [K in keyof R]: WatchK8sResultsObject<R[K]> }}
   */
  const useK8sWatchResources = (resources) => {
    const lists = useListWatches(Object.fromEntries(Object.entries(resources).map(([key, resource]) => [key, optionsOf(resource, options)])))
    const name = JSON.stringify(Object.values(resources).map(({ isList, groupVersionKind, kind }) => [isList, groupVersionKind, kind]))
    return useMemo(() => {
      const results = Object.entries(resources).map(([key, resource]) => [key, resultOf(resource, lists[key])])
      return /** @type {any} */ (Object.fromEntries(results))
    }, [lists, name])
  }
  return { useK8sWatchResource, useK8sWatchResources }
}

const hooks = createWatchHooks()

/** The hook `useK8sWatchResource` for the server of the console, `/api/kubernetes`. */
export const useK8sWatchResource = hooks.useK8sWatchResource

/** The hook `useK8sWatchResources` for the server of the console, `/api/kubernetes`. */
export const useK8sWatchResources = hooks.useK8sWatchResources

// Returns the kind of a resource. A reference has the form group~version~kind. For the core group, it begins with "core".
/** @param {WatchK8sResource | null | undefined} resource @returns {K8sGroupVersionKind | undefined} */
function kindOf(resource) {
  if (resource?.groupVersionKind) return resource.groupVersionKind
  const parts = resource?.kind?.split('~')
  if (!parts) return undefined
  const [kind, version = '', group = ''] = parts.reverse()
  return { group: group === 'core' ? '' : group, version, kind }
}

/**
 * @param {WatchK8sResource | null | undefined} resource
 * @param {WatchHookOptions} options
 * @returns {UseListWatchOptions | null}
 */
function optionsOf(resource, { plurals, ...options }) {
  if (!resource) return null
  const { group = '', version = '', kind = '' } = kindOf(resource) ?? {}
  const plural = plurals?.[group ? `${group}~${kind}` : kind] ?? pluralOf(kind)
  // The console publishes the path under which it is installed in this global variable.
  const { basePath = '/' } = /** @type {any} */ (globalThis).SERVER_FLAGS ?? {}
  return {
    server: `${basePath}api/kubernetes`, ...options,
    resource: [group, version, plural].filter(Boolean).join('/'),
    namespace: resource.namespaced === false ? undefined : resource.namespace,
    name: resource.name,
    labelSelector: selectorText(resource.selector),
    fieldSelector: resource.fieldSelector,
    project: resource.partialMetadata ? ['metadata'] : undefined,
  }
}

/** @param {any} [selector] */
function selectorText(selector = {}) {
  const { matchLabels, matchExpressions } = selector
  const labels = matchLabels || matchExpressions ? matchLabels ?? {} : selector
  return [...Object.keys(labels).sort().map((key) => `${key}=${labels[key]}`), ...(matchExpressions ?? []).map(requirementText)].join()
}

/** @param {{ key: string, operator: string, values?: string[] }} requirement */
function requirementText({ key, operator, values = [] }) {
  switch (operator) {
    case 'Equals': return `${key}=${values[0]}`
    case 'NotEquals': return `${key}!=${values[0]}`
    case 'Exists': return key
    case 'DoesNotExist': return `!${key}`
    case 'In': return `${key} in (${values})`
    case 'NotIn': return `${key} notin (${values})`
    case 'GreaterThan': return `${key} > ${values[0]}`
    case 'LessThan': return `${key} < ${values[0]}`
  }
  return `${key} ${operator}` // the server rejects it
}

// Converts a view to the result of the SDK's hooks. For an unknown kind, the SDK returns a loaded result with an error. A kind is
// unknown if an option is invalid or a list is not found. For a single object, 404 may only mean that the object is missing.
/** @param {WatchK8sResource} resource @param {ListView<any>} list @returns {WatchK8sResultsObject<any>} */
function resultOf(resource, { items, loaded, error }) {
  const isUnknown = error && !loaded && (error.code === 'invalid' ? !error.status : resource.isList && error.code === 'not-found')
  if (isUnknown) return { data: resource.isList ? [] : {}, loaded: true, loadError: loadErrorOf(error) }
  if (resource.isList) return { data: objectsOf(items, resource), loaded, loadError: error && loadErrorOf(error) }
  const [item] = items
  if (item) return { data: typed(item.object, resource), loaded, loadError: error && loadErrorOf(error) }
  const missing = loaded && !error ? Object.assign(new Error(`${resource.name} not found`), { code: 404, response: { status: 404 } }) : undefined
  return { data: null, loaded: false, loadError: missing ?? (error && loadErrorOf(error)) }
}

// These maps keep results, because React compares values by identity.
/** @type {WeakMap<ListWatchError, LoadError>} */
const loadErrors = new WeakMap()

/** @param {ListWatchError} cause @returns {LoadError} */
function loadErrorOf(cause) {
  let error = loadErrors.get(cause)
  if (!error) {
    const { message, status } = cause
    loadErrors.set(cause, error = Object.assign(new Error(message, { cause }), status ? { code: status, response: { status } } : {}))
  }
  return error
}

/** @type {WeakMap<readonly unknown[], KubernetesObject[]>} the objects of a list of items */
const dataOf = new WeakMap()

/** @param {ListView<KubernetesObject>['items']} items @param {WatchK8sResource} resource */
function objectsOf(items, resource) {
  let objects = dataOf.get(items)
  if (!objects) dataOf.set(items, objects = items.map(({ object }) => typed(object, resource)))
  return objects
}

/** @type {WeakMap<KubernetesObject, KubernetesObject>} */
const copies = new WeakMap()

/** Returns the object with its kind and apiVersion, which the items of lists lack. @param {KubernetesObject} object @param {WatchK8sResource} resource */
function typed(object, resource) {
  if (object.kind) return object
  let copy = copies.get(object)
  const { group, version, kind } = kindOf(resource) ?? {}
  if (!copy) copies.set(object, copy = /** @type {KubernetesObject} */ ({ kind, ...(version && { apiVersion: group ? `${group}/${version}` : version }), ...object }))
  return copy
}
