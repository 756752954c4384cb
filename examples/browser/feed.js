// A collection as the page follows it: the rows, what happened to them, and how things stand.

import { listWatch } from './listwatch/index.js'
import { columnsOf } from './columns/index.js'
import { isSecret } from './detail.js'
import { History, Rate } from './history.js'
import { Rows } from './rows.js'

// Of Secrets the program keeps these fields only: their values are dropped before they reach JavaScript.
// Annotations go too, as kubectl apply writes the whole object into one.
const OF_SECRETS = ['metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'metadata.ownerReferences', 'type', 'immutable']

export class Feed {
  history = new History()
  rate = new Rate()
  #collection
  #failure

  /** @param server `{ server, token }`; @param resource as discovery told it; `tell` is called when anything changed */
  constructor({ server, token }, resource, namespace, tell) {
    this.resource = resource
    this.columns = columnsOf(resource, namespace)
    this.rows = new Rows(this.columns)
    try {
      this.#collection = listWatch({ server, resource: nameOf(resource), ...choices(resource, namespace, token) })
    } catch (error) {
      this.#failure = error
      return
    }
    this.#collection.subscribe((changes) => {
      this.#take(changes, Date.now())
      tell()
    })
  }

  #take(changes, now) {
    this.rows.apply(changes, now)
    for (const change of changes) if (!change.initial) this.history.add(change, now)
    this.rate.add(changes.filter((change) => !change.initial).length, now)
  }

  get state() {
    return this.#collection?.state ?? { phase: 'stopped', stale: true, cause: this.#failure, resourceVersion: '', lastEventAt: 0 }
  }

  close() {
    this.#collection?.close()
  }
}

// What a browser keeps, the next user of it could see: so nothing is kept of a server that asks for a token, or of Secrets.
function choices(resource, namespace, token) {
  const chosen = { persist: !token && !isSecret(resource) }
  if (token) chosen.token = token
  if (isSecret(resource)) chosen.project = OF_SECRETS
  if (namespace && resource.namespaced) chosen.namespace = namespace
  return chosen
}

const nameOf = ({ group, version, plural }) => [group, version, plural].filter(Boolean).join('/')

/** Follows the names of the namespaces; `tell` is given them, or null where they may not be listed. Returns how to end it. */
export function followNamespaces({ server, token }, tell) {
  const collection = listWatch({ server, resource: 'v1/namespaces', project: ['metadata.name'], ...(token && { token }) })
  collection.subscribe(() => tell(collection.state.phase === 'stopped' && !collection.size ? null : collection.list().map(({ name }) => name)))
  return () => collection.close()
}
