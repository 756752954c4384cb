// Defines the feed: a watched collection with its rows, history and status.

import { listWatch } from './listwatch/index.js'
import { fieldsOf } from './columns/fields.js'
import { columnsOf } from './columns/index.js'
import { isSecret } from './detail.js'
import { causeOf, followEvents } from './follow.js'
import { History, Rate } from './history.js'
import { Rows } from './rows.js'
import { Versions } from './versions.js'

/**
 * @import { Change, Item, ListWatch, ListWatchOptions } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Printed } from './columns/printer.js'
 * @import { Resource } from './discovery.js'
 * @import { Found } from './events.js'
 * @import { Link } from './request.js'
 * @import { Row } from './row.js'
 * @import { Cause, Status } from './status.js'
 */

// The page requests only these fields of Secrets. The WASM module drops the values before they reach JavaScript. It
// also drops annotations, because kubectl apply saves the whole object in an annotation.
const OF_SECRETS = ['metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'metadata.ownerReferences', 'type', 'immutable']

/** @type {Found} */
const NO_EVENTS = { items: [], listed: false }

export class Feed {
  history = new History()
  rate = new Rate()
  /** @type {ListWatch<Kube> | undefined} */
  #collection
  /** @type {Status} The state at the last report. It matches the rows. The collection's own state may be newer. */
  state
  #link
  #notify
  #version = '' // the collection's resourceVersion before the next changes
  /** @type {Versions | undefined} */
  #versions
  #versionsKey = ''
  #live = false
  /** @type {Found} The events about the object of `#eventsKey`. */
  #events = NO_EVENTS
  #eventsKey = ''
  /** @type {(() => void) | undefined} */
  #endEvents

  /**
   * @param {Link} link
   * @param {Resource} resource
   * @param {string} namespace
   * @param {() => void} notify called after each change
   * @param {Printed} [printed] the columns that the server defines
   */
  constructor(link, resource, namespace, notify, printed) {
    const { server, token } = this.#link = link
    this.#notify = notify
    this.resource = resource
    this.columns = columnsOf(resource, namespace, printed)
    this.rows = new Rows(this.columns)
    if (printed?.cells) printed.cells.changed = (key) => this.#reread(key)
    if (!resource.version) { // the URL contains only a plural, and the server has no such collection
      this.state = stoppedBy({ code: 'not-found', message: `the server does not offer "${resource.plural}"` })
      return
    }
    try {
      this.#collection = listWatch({ server, resource: nameOf(resource), ...choices(resource, namespace, token, printed) })
    } catch (error) {
      this.state = stoppedBy(causeOf(error))
      return
    }
    const collection = this.#collection
    this.state = collection.state
    collection.subscribe((changes) => {
      this.state = collection.state
      this.#take(changes, Date.now())
      notify()
    })
  }

  /**
   * @param {readonly Change<Kube>[]} changes
   * @param {number} now
   */
  #take(changes, now) {
    this.rows.apply(changes, now)
    const { resourceVersion: after = '', phase } = this.state
    for (const change of changes) if (!change.initial) this.history.add({ change, at: now, before: this.#version, after })
    this.#version = after
    if (phase === 'live' && !this.#live) this.#versions?.close() // the next Versions repeats failed requests, which may succeed now
    this.#live = phase === 'live'
    this.rate.add(changes.filter((change) => !change.initial).length, now)
  }

  /**
   * Returns the full versions of a row's object, or undefined if the table contains all fields that may be shown.
   * @param {Row} row
   */
  versionsOf({ key, item }) {
    if (isSecret(this.resource)) return undefined
    const known = this.#versionsKey === key ? this.#versions : undefined
    if (known && !known.closed) return known
    this.#versions?.close()
    this.#versionsKey = key
    return this.#versions = new Versions(this.#link, this.resource, item, this.#notify, known?.newest)
  }

  /** @param {string} key */
  #reread(key) {
    this.rows.reread(key)
    this.#notify()
  }

  /**
   * Watches the events about a row's object until `endEvents` is called or this method is called for another row.
   * Returns the known events.
   * @param {Row} row
   */
  eventsOf({ key, item }) {
    if (this.#eventsKey === key) return this.#events
    this.endEvents()
    this.#eventsKey = key
    this.#endEvents = followEvents(this.#link, this.resource.kind, item, (found) => {
      this.#events = found
      this.#notify()
    })
    return this.#events
  }

  /** Stops the watch of events. */
  endEvents() {
    this.#endEvents?.()
    this.#endEvents = undefined
    this.#events = NO_EVENTS
    this.#eventsKey = ''
  }

  close() {
    this.endEvents()
    this.#versions?.close()
    this.#collection?.close()
  }
}

/**
 * Returns the options of a collection. The page saves neither Secrets nor objects of a server that requires a token,
 * because the next user of the browser could read saved objects.
 * @param {Resource} resource
 * @param {string} namespace
 * @param {string} token
 * @param {Printed} [printed]
 */
function choices(resource, namespace, token, printed) {
  /** @type {ListWatchOptions} */
  const chosen = { persist: !token && !isSecret(resource), project: isSecret(resource) ? OF_SECRETS : fieldsOf(resource, printed) }
  if (token) chosen.token = token
  if (namespace && resource.namespaced) chosen.namespace = namespace
  return chosen
}

/** @type {(cause: Cause) => Status} */
const stoppedBy = (cause) => ({ phase: 'stopped', cause, resourceVersion: '', lastEventAt: 0 })

/** @param {Resource} resource */
const nameOf = ({ group, version, plural }) => [group, version, plural].filter(Boolean).join('/')
