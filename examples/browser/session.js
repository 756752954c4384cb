// Manages the server of the page, its collections and its namespaces.

import { askForServer, nameOfServer, remember, serverOfPage } from './connect.js'
import { $, announce, setText } from './dom.js'
import { followNamespaces } from './follow.js'
import { notice } from './notices.js'
import { Collections } from './collections.js'
import { ServerColumns } from './servercolumns.js'
import { explain } from './status.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Feed } from './feed.js'
 * @import { Link, RequestError } from './request.js'
 * @import { Cause, Status } from './status.js'
 *
 * @typedef {object} Page
 * @property {Feed | undefined} feed
 * @property {() => void} leave closes the feed
 * @property {() => void} show draws the menu and opens the collection of the route
 * @property {(names: string[] | null) => void} showNamespaces names is null if they cannot be listed
 * @property {() => void} draw
 */

const storageFailed = (/** @type {string} */ why) => notice('storage', `The next visit must wait for the server because the browser cannot save data: ${why}`)

export class Session {
  /** @type {Link} */
  link = { server: serverOfPage(), token: '' }
  /** @type {Resource[]} */
  resources = []
  /** @type {Status | undefined} Replaces the feed's state until the server has responded. */
  waiting
  /** @type {(() => void) | undefined} */
  #endNamespaces
  #page
  #columns = new ServerColumns(this.link, storageFailed)
  #collections = new Collections({
    found: (resources) => this.#found(resources), refused: (error) => this.#refused(error), waiting: (state) => this.#wait(state), storageFailed,
  })

  /** @param {Page} page */
  constructor(page) {
    this.#page = page
    addEventListener('pagehide', () => this.#columns.save())
  }

  /** Connects to the server of `link`. */
  connect() {
    setText($('server-name'), nameOfServer(this.link.server))
    this.#page.leave()
    this.waiting = undefined
    this.resources = []
    this.#columns = new ServerColumns(this.link, storageFailed)
    this.#endNamespaces?.()
    this.#endNamespaces = undefined
    for (const kind of ['collections', 'namespaces']) notice(kind, '')
    this.load()
  }

  /** Loads the collections and retries until the server responds. */
  load() {
    this.#collections.load(this.link).catch(reportError)
  }

  /**
   * Returns the columns that the server defines for a collection.
   * @param {Resource} resource
   * @param {string} namespace the namespace that the page shows, or ""
   */
  printed(resource, namespace) {
    return this.#columns.of(resource, resource.namespaced ? namespace : '')
  }

  /** @param {Resource[]} resources */
  #found(resources) {
    this.waiting = undefined
    notice('collections', '')
    const same = JSON.stringify(resources) === JSON.stringify(this.resources)
    if (same && this.#page.feed) return // nothing to redraw
    this.resources = resources
    this.#endNamespaces ??= followNamespaces(this.link, (names, cause) => this.#showNamespaces(names, cause))
    this.#page.show()
  }

  /**
   * @param {string[] | null} names
   * @param {Cause | undefined} cause
   */
  #showNamespaces(names, cause) {
    this.#page.showNamespaces(names)
    const { short, long } = explain(cause)
    notice('namespaces', cause ? `The namespaces are not watched. ${short}: ${long}` : '')
  }

  /** Refreshes the collections at the user's request and announces the result. */
  refresh() {
    const before = this.resources
    this.#collections.refresh(this.link).then((error) => {
      if (error) this.#noticeOutdated(error)
      else announce(this.resources === before ? 'The collections have not changed' : 'The collections have changed')
    }).catch(reportError)
  }

  /**
   * Refreshes the collections. It reports a failure only while the feed is live, because the feed reports its own
   * failures.
   * @param {boolean} [throttled] whether to do nothing soon after another refresh
   */
  refreshQuietly(throttled = false) {
    this.#collections.refresh(this.link, throttled).then((error) => {
      if (error && this.#page.feed?.state.phase === 'live') this.#noticeOutdated(error)
    }).catch(reportError)
  }

  /** @param {Cause} cause */
  #noticeOutdated({ message }) {
    notice('collections', `The menu may be out of date: ${message}`)
  }

  /** @param {Status & { cause: Cause }} state */
  #wait(state) {
    const { feed } = this.#page
    // After any other failure, show() opens the collection, which reports its own failure.
    const ownFailure = state.phase === 'stopped' || state.cause.code === 'malformed'
    if (!feed && !ownFailure) return this.#page.show()
    if (!feed) this.waiting = state
    else if (feed.state.phase === 'live') this.#noticeOutdated(state.cause)
    this.#page.draw()
  }

  /** @param {RequestError} error */
  #refused({ status, message }) {
    this.#page.leave()
    this.#wait({ phase: 'stopped', cause: { code: status === 401 ? 'unauthorized' : 'forbidden', message } })
    this.change(message)
  }

  /**
   * Asks the user for another server or token.
   * @param {string} [why]
   */
  change(why = '') {
    askForServer(this.link, why).then((answer) => {
      if (!answer) return
      this.link = answer
      remember(answer.server)
      this.connect()
    }).catch(reportError)
  }
}
