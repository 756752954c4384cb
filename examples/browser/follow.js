// Watches the events about an object, and the names of the namespaces.

import { ListWatchError, listWatch } from './listwatch/index.js'

/**
 * @import { Item, ListWatch } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Found } from './events.js'
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
  const followed = collection
  const unsubscribe = followed.subscribe(() => {
    const { phase, cause } = followed.state, stopped = phase === 'stopped'
    notify(stopped && !followed.size ? null : followed.list().map(({ name }) => name), stopped || cause?.status ? cause : undefined)
  })
  return () => {
    unsubscribe()
    followed.close()
  }
}
