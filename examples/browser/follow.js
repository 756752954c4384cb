// Watches the events about an object, the objects that it owns, and the names of the namespaces.

import { fieldsOf } from './columns/fields.js'
import { ListWatchError, listWatch } from './listwatch/index.js'

/**
 * @import { Item, ListWatch } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 * @import { Found } from './events.js'
 * @import { Listed } from './owned.js'
 * @import { Link } from './request.js'
 * @import { Cause } from './status.js'
 */

/**
 * Returns a ListWatchError, which listWatch throws for invalid options. Rethrows any other error.
 * @param {unknown} error
 * @returns {Cause}
 */
export function causeOf(error) {
  if (error instanceof ListWatchError) return error
  throw error
}

// The fields that the details pane shows. Events have two forms: those of the group events.k8s.io have `note`, `series` and
// `eventTime`.
const OF_EVENTS = ['type', 'reason', 'message', 'note', 'count', 'series', 'lastTimestamp', 'eventTime', 'metadata.creationTimestamp']

/**
 * Watches the events about an object. Returns a function that stops the watch.
 * @param {Link} link
 * @param {string} kind
 * @param {Pick<Item, 'namespace' | 'name'>} item
 * @param {(found: Found) => void} notify
 */
export function followEvents({ server, token }, kind, { namespace, name }, notify) {
  /** @type {ListWatch<Kube>} */
  const collection = listWatch({
    server, resource: 'v1/events', project: OF_EVENTS, fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}`,
    ...(namespace ? { namespace } : undefined), ...(token ? { token } : undefined),
  })
  const unsubscribe = collection.subscribe(() => {
    const { cause, resourceVersion } = collection.state
    notify({ items: collection.list(), listed: !!resourceVersion, cause })
  })
  return () => {
    unsubscribe()
    collection.close()
  }
}

/**
 * Watches the objects that a controller may own. Returns a function that stops the watches.
 * @param {Link} link
 * @param {Resource[]} resources their collections
 * @param {{ namespace: string, labelSelector: string }} selected
 * @param {(listed: Listed[]) => void} notify
 */
export function followOwned({ server, token }, resources, { namespace, labelSelector }, notify) {
  const followed = resources.map((resource) => ({ resource, collection: /** @type {ListWatch<Kube>} */ (listWatch({
    server, resource: [resource.group, resource.version, resource.plural].filter(Boolean).join('/'), namespace, project: fieldsOf(resource),
    ...(labelSelector ? { labelSelector } : undefined), ...(token ? { token } : undefined),
  })) }))
  const report = () => notify(followed.map(({ resource, collection }) => {
    const { cause, resourceVersion } = collection.state
    return { resource, found: { items: collection.list(), listed: !!resourceVersion, cause } }
  }))
  const ends = followed.map(({ collection }) => collection.subscribe(report))
  return () => {
    for (const end of ends) end()
    for (const { collection } of followed) collection.close()
  }
}

/** Follows the objects that belong to the selected object, while the details pane shows them. @template T */
export class Companion {
  #none
  #found
  #key = ''
  /** @type {(() => void) | undefined} */
  #end

  /** @param {T} none the value until the first objects arrive */
  constructor(none) {
    this.#found = this.#none = none
  }

  /**
   * Returns the known objects. Starts to follow them if the key is new.
   * @param {string} key identifies the selected object and the selection of the objects that belong to it
   * @param {(notify: (found: T) => void) => () => void} follow returns a function that stops
   * @param {() => void} notify called after each change
   */
  of(key, follow, notify) {
    if (this.#key === key) return this.#found
    this.end()
    this.#key = key
    this.#end = follow((found) => {
      this.#found = found
      notify()
    })
    return this.#found
  }

  end() {
    this.#end?.()
    this.#end = undefined
    this.#found = this.#none
    this.#key = ''
  }
}

/**
 * Watches the names of the namespaces. Returns a function that stops the watch.
 * @param {Link} link
 * @param {(names: string[] | null, cause: Cause | undefined) => void} notify receives the names, or null if they cannot
 * be listed, and the cause if the server rejects the request
 */
export function followNamespaces({ server, token }, notify) {
  let collection
  try {
    collection = listWatch({ server, resource: 'v1/namespaces', project: ['metadata.name'], ...(token ? { token } : undefined) })
  } catch (error) {
    notify(null, causeOf(error))
    return () => undefined
  }
  const followed = collection // a constant, whose type is known in the functions below
  const unsubscribe = followed.subscribe(() => {
    const { phase, cause } = followed.state, stopped = phase === 'stopped'
    notify(stopped && !followed.size ? null : followed.list().map(({ name }) => name), stopped || cause?.status ? cause : undefined)
  })
  return () => {
    unsubscribe()
    followed.close()
  }
}
