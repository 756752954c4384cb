// Defines the feed: a watched collection with its rows, history and status.

import { listWatch } from './listwatch/index.js'
import { fieldsOf } from './columns/fields.js'
import { columnsOf } from './columns/index.js'
import { isSecret } from './detail.js'
import { Companion, causeOf, followEvents, followOwned } from './follow.js'
import { History, Rate } from './history.js'
import { ownedBy, selectorOf } from './owned.js'
import { maySave } from './request.js'
import { namespacesOf } from './route.js'
import { Rows } from './rows.js'
import { Versions } from './versions.js'

/**
 * @import { Change, Item, ListWatch, ListWatchOptions } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Printed } from './columns/printer.js'
 * @import { Resource } from './discovery.js'
 * @import { Found } from './events.js'
 * @import { Listed } from './owned.js'
 * @import { Link } from './request.js'
 * @import { Row } from './row.js'
 * @import { Cause, Status } from './status.js'
 */

// The page requests only these fields of Secrets. The WASM module drops the values before they reach JavaScript. It
// also drops annotations, because kubectl apply saves the whole object in an annotation.
const OF_SECRETS = ['metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'metadata.ownerReferences', 'type', 'immutable']

const PHASES = ['live', 'listing', 'waiting', 'stale', 'stopped'] // from best to worst

// The details pane compares values by identity, so an empty value must always be the same.
/** @type {Found} */
const NO_EVENTS = { items: [], listed: false }
/** @type {Listed[]} */
const NOTHING_OWNED = []

export class Feed {
  history = new History()
  rate = new Rate()
  /** @type {ListWatch<Kube>[]} One collection for each namespace, or one for all. */
  #collections = []
  /** @type {Status} The worst state at the last report. It matches the rows. The collections' own states may be newer. */
  state
  /** @type {{ at: number, changes: Map<string, Change<Kube>> } | undefined} When the table was paused, and the later changes by key. */
  paused
  #link
  #notify
  /** @type {Map<ListWatch<Kube>, string>} The collections' resourceVersions before the next changes. */
  #versionsBefore = new Map()
  /** @type {Versions | undefined} */
  #versions
  #versionsKey = '' // the key of the row whose versions are loaded
  #live = false // whether the phase was live at the last change
  #events = new Companion(NO_EVENTS)
  #owned = new Companion(NOTHING_OWNED)

  /**
   * @param {Link} link
   * @param {Resource} resource
   * @param {string} namespace the namespaces, separated by commas; "" for all
   * @param {() => void} notify called after each change
   * @param {Printed} [printed] the columns that the server defines
   */
  constructor(link, resource, namespace, notify, printed) {
    const { server } = this.#link = link
    this.#notify = notify
    this.resource = resource
    this.columns = columnsOf(resource, namespace, printed)
    this.rows = new Rows(this.columns)
    if (printed?.cells) printed.cells.changed = (key) => this.#reread(key)
    if (!resource.version) { // the URL contains only a plural, and the server has no such collection
      this.state = stoppedBy({ code: 'not-found', message: `the server does not offer "${resource.plural}"` })
      return
    }
    const namespaces = resource.namespaced ? namespacesOf(namespace) : []
    try {
      for (const one of namespaces.length ? namespaces : ['']) this.#collections.push(listWatch({ server, resource: nameOf(resource), ...choices(resource, one, link, printed) }))
    } catch (error) {
      this.close()
      this.state = stoppedBy(causeOf(error))
      return
    }
    this.state = this.#worst()
    for (const collection of this.#collections) {
      collection.subscribe((changes) => {
        this.state = this.#worst()
        this.#take(collection, changes, Date.now())
        notify()
      })
    }
  }

  /** @returns {Status} */
  #worst() {
    const states = this.#collections.map(({ state }) => state)
    return states.reduce((worst, state) => (PHASES.indexOf(state.phase) > PHASES.indexOf(worst.phase) ? state : worst))
  }

  /**
   * @param {ListWatch<Kube>} collection
   * @param {readonly Change<Kube>[]} changes
   * @param {number} now
   */
  #take(collection, changes, now) {
    if (this.paused) for (const change of changes) this.#defer(change, this.paused.changes)
    else this.rows.apply(changes, now)
    // The history stores both resourceVersions, because versions.js can request the objects as they were at that time.
    const { phase } = this.state, { resourceVersion: after = '' } = collection.state, before = this.#versionsBefore.get(collection) ?? ''
    for (const change of changes) if (!change.initial) this.history.add({ change, at: now, before, after })
    this.#versionsBefore.set(collection, after)
    if (phase === 'live' && !this.#live) this.#versions?.close() // the next Versions repeats failed requests, which may succeed now
    this.#live = phase === 'live'
    this.rate.add(changes.filter((change) => !change.initial).length, now)
  }

  /** @param {number} now in milliseconds */
  pause(now) { this.paused = { at: now, changes: new Map() } }

  /** @param {number} now in milliseconds */
  resume(now) {
    const changes = this.paused?.changes ?? []
    this.paused = undefined
    this.rows.apply([...changes.values()], now)
  }

  /**
   * Merges a change with earlier changes of the same object, so that a long pause needs little memory.
   * @param {Change<Kube>} change
   * @param {Map<string, Change<Kube>>} earlier
   */
  #defer(change, earlier) {
    const before = earlier.get(change.key)
    const added = before?.type === 'added' && change.type === 'modified'
    earlier.set(change.key, !before ? change : /** @type {Change<Kube>} */ ({ ...change, type: added ? 'added' : change.type, old: before.old }))
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
    return this.#events.of(key, (found) => followEvents(this.#link, this.resource.kind, item, found), this.#notify)
  }

  endEvents() { this.#events.end() }

  /**
   * Watches the objects that a row's object owns until `endOwned` is called or this method is called for another row.
   * Returns the known objects.
   * @param {Row} row
   * @param {Kube} object the full object
   * @param {Resource[]} resources all collections of the server
   */
  ownedOf({ key, item }, object, resources) {
    const kinds = ownedBy(this.resource.kind, resources), labelSelector = selectorOf(object)
    // A CronJob has no selector. Any other controller has one as soon as its full object has arrived.
    if (!kinds.length || labelSelector === undefined && this.resource.kind !== 'CronJob') return NOTHING_OWNED
    const selected = { namespace: item.namespace, labelSelector: labelSelector ?? '' }
    return this.#owned.of(`${key} ${labelSelector}`, (found) => followOwned(this.#link, kinds, selected, found), this.#notify)
  }

  endOwned() { this.#owned.end() }

  close() {
    this.endEvents()
    this.endOwned()
    this.#versions?.close()
    for (const collection of this.#collections) collection.close()
  }
}

/**
 * Returns the options of a collection. The page never saves Secrets.
 * @param {Resource} resource
 * @param {string} namespace
 * @param {Link} link
 * @param {Printed} [printed]
 */
function choices(resource, namespace, link, printed) {
  const { token } = link
  /** @type {ListWatchOptions} */
  const chosen = { persist: maySave(link) && !isSecret(resource), project: isSecret(resource) ? OF_SECRETS : fieldsOf(resource, printed) }
  if (token) chosen.token = token
  if (namespace) chosen.namespace = namespace
  return chosen
}

/** @type {(cause: Cause) => Status} */
const stoppedBy = (cause) => ({ phase: 'stopped', cause, resourceVersion: '', lastEventAt: 0 })

/** @param {Resource} resource */
const nameOf = ({ group, version, plural }) => [group, version, plural].filter(Boolean).join('/')
