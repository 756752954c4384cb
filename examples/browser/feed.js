// A collection as the page follows it: the rows, what happened to them, and how things stand.

import { listWatch } from './listwatch/index.js'
import { fieldsOf } from './columns/fields.js'
import { columnsOf } from './columns/index.js'
import { isSecret } from './detail.js'
import { History, Rate } from './history.js'
import { Rows } from './rows.js'
import { Whole } from './whole.js'

// Of Secrets the program keeps these fields only: their values are dropped before they reach JavaScript.
// Annotations go too, as kubectl apply writes the whole object into one.
const OF_SECRETS = ['metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'metadata.ownerReferences', 'type', 'immutable']

export class Feed {
  history = new History()
  rate = new Rate()
  #collection
  #failure
  #link
  #tell
  #version = '' // of the collection, before the changes that are told next
  #whole // of the row that was asked for last
  #live = false

  /** @param server `{ server, token }`; @param resource as discovery told it; `tell` is called when anything changed */
  constructor(link, resource, namespace, tell) {
    const { server, token } = this.#link = link
    this.#tell = tell
    this.resource = resource
    this.columns = columnsOf(resource, namespace)
    this.rows = new Rows(this.columns)
    if (!resource.version) { // the URL names it by its plural only, and the server told none of that name
      this.#failure = { code: 'not-found', message: `${resource.plural} is none that it told` }
      return
    }
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
    const { resourceVersion: after, phase } = this.state
    for (const change of changes) if (!change.initial) this.history.add({ change, at: now, before: this.#version, after })
    this.#version = after
    if (phase === 'live' && !this.#live) this.#forget() // what could not be had may be had now
    this.#live = phase === 'live'
    this.rate.add(changes.filter((change) => !change.initial).length, now)
  }

  get state() {
    return this.#collection?.state ?? { phase: 'stopped', stale: true, cause: this.#failure, resourceVersion: '', lastEventAt: 0 }
  }

  /** The whole of a row's object; undefined where the table has all that there shall be. */
  wholeOf({ key, item }) {
    if (isSecret(this.resource)) return undefined
    if (this.#whole?.key !== key) {
      this.#forget()
      this.#whole = Object.assign(new Whole(this.#link, this.resource, item, this.#tell), { key })
    }
    return this.#whole
  }

  #forget() {
    this.#whole?.close()
    this.#whole = undefined
  }

  close() {
    this.#forget()
    this.#collection?.close()
  }
}

// What a browser keeps, the next user of it could see: so nothing is kept of a server that asks for a token, or of Secrets.
function choices(resource, namespace, token) {
  const chosen = { persist: !token && !isSecret(resource), project: isSecret(resource) ? OF_SECRETS : fieldsOf(resource) }
  if (token) chosen.token = token
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
