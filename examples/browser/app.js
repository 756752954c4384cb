// The dashboard watches the collection that the page's URL selects, and draws it at most once per animation frame.

import { $, $of, announce, setText } from './dom.js'
import { Arrangement } from './arrangement.js'
import { Cursor } from './cursor.js'
import { hasColumns, isChosen } from './columns/index.js'
import { Detail } from './detail.js'
import { titleOf } from './discovery.js'
import { csvOf, download, jsonOf } from './exporting.js'
import { Feed } from './feed.js'
import { Grid } from './grid.js'
import { listen } from './keys.js'
import { wake } from './listwatch/index.js'
import { Navigation } from './navigation.js'
import { collectionOf, namespacesOf } from './route.js'
import { Scope } from './scope.js'
import { Selection } from './selection.js'
import { Session } from './session.js'
import { Sidebar } from './sidebar.js'
import { drawRate } from './sparkline.js'
import { explain, isKnown, needsToken } from './status.js'
import { StatusFilter } from './statusfilter.js'
import { resetAnnouncements, showPaused, showState } from './statusview.js'
import { ViewMenu } from './viewmenu.js'

/**
 * @import { Printed } from './columns/printer.js'
 * @import { Resource } from './discovery.js'
 * @import { Route } from './route.js'
 * @import { Status } from './status.js'
 */

const FRAME = 6 // time per frame for reading rows, in milliseconds: short, so that scrolling and typing stay smooth
const ARRANGE = 120 // time between sorts while a list arrives, in milliseconds, because each sort may move all rows
const DRAW = 500 // time between redraws that only update ages, in milliseconds

class App {
  #navigation = new Navigation((route, before) => this.#moved(route, before))
  /** @type {Feed | undefined} */
  feed
  /** @type {Resource | undefined} The collection that is open, or that opens when its columns arrive. */
  #following
  #due = false // whether a redraw is scheduled
  /** @type {{ phase?: string, code?: string }} State of the feed at the last redraw. */
  #seen = {}
  #arranged = 0 // time of the last sort, from performance.now()
  #session = new Session(this)
  #sidebar = new Sidebar(() => this.#navigation.route)
  #scope = new Scope((namespace) => this.#navigation.go({ namespace, selected: '' }))
  #detail = new Detail($('detail'), { close: () => this.#cursor.escape(), choose: (tab) => this.#navigation.go({ tab }) })
  #grid = new Grid($('grid'), { sort: (id) => this.feed && this.#arrangement.sort(this.feed, id), open: (key) => this.#select(key), scrolled: () => this.draw() })
  #arrangement = new Arrangement(this.#navigation, this.#grid)
  #selection = new Selection(this.#grid, this.#detail)
  #statusFilter = new StatusFilter($('statuses'), (statuses) => this.#navigation.go({ statuses }))
  #viewMenu = new ViewMenu({ choose: (columns) => this.#navigation.go({ columns }), save: (kind) => this.#save(kind) })
  #cursor = new Cursor(this.#grid, this.#detail, { navigation: this.#navigation, draw: () => this.draw() })

  start() {
    $('server').addEventListener('click', () => this.#session.change())
    $('help-open').addEventListener('click', () => $of('help', HTMLDialogElement).showModal())
    $('search').addEventListener('focus', () => this.draw())
    $('retry').addEventListener('click', () => this.#retry())
    $('pause').addEventListener('click', () => this.#pause())
    $('refresh').addEventListener('click', () => this.#session.refresh())
    for (const event of ['focus', 'online']) addEventListener(event, () => this.#session.refreshQuietly(true))
    document.addEventListener('themechange', () => this.draw())
    listen(this.#cursor)
    setInterval(() => this.draw(), DRAW)
    this.#session.connect()
  }

  /** Closes the feed. */
  leave() {
    this.feed?.close()
    this.feed = undefined
    this.#following = undefined
  }

  /** Shows the collections of the server. The feed stays open unless its collection has changed. */
  show() {
    this.#sidebar.show(this.#session.resources)
    if (!this.#navigation.route.plural) return this.#navigation.go({ version: 'v1', plural: 'pods' })
    const { feed } = this
    const unchanged = feed && JSON.stringify(this.#resourceOf(this.#navigation.route)) === JSON.stringify(feed.resource)
    if (!unchanged || feed.state.phase === 'stopped') this.#follow()
  }

  /** @param {string[] | null} names */
  showNamespaces(names) {
    this.#scope.names(names)
  }

  // Saves the rows that match the search and the filters.
  #save(/** @type {'csv' | 'json'} */ kind) {
    const { feed } = this
    if (!feed) return
    const rows = feed.rows.view.filter(({ gone }) => !gone), { columns } = this.#navigation.route
    const text = kind === 'csv' ? csvOf(rows, feed.columns.filter((column) => isChosen(columns, column))) : jsonOf(rows)
    download(`${feed.resource.plural}.${kind}`, kind === 'csv' ? 'text/csv' : 'application/json', text)
  }

  // Pauses the table, or resumes it.
  #pause() {
    const { feed } = this
    if (!feed) return
    if (feed.paused) feed.resume(Date.now())
    else feed.pause(Date.now())
    announce(feed.paused ? 'Paused' : 'Resumed')
    this.draw()
  }

  // Retries immediately, or asks for another token if the server rejected the current one.
  #retry() {
    const state = this.#session.waiting ?? this.feed?.state
    if (state && needsToken(state)) this.#session.change(explain(state.cause).long)
    else if (this.#session.waiting) this.#session.load()
    else if (this.feed?.state.phase === 'stopped') this.#follow()
    else wake()
  }

  /**
   * Shows the current route.
   * @param {Route} route
   * @param {Route} before the previous route
   */
  #moved(route, before) {
    if (!this.feed && !this.#session.resources.length) return // show() uses the route as soon as the server has responded
    if (!this.feed || collectionOf(route) !== collectionOf(before) || route.namespace !== before.namespace) return this.#follow()
    if (route.search !== before.search || route.statuses.join() !== before.statuses.join()) {
      this.#arrangement.filter(this.feed.rows)
      this.#grid.scrollToTop()
    }
    if (route.sort !== before.sort || route.descending !== before.descending) {
      this.#arrangement.order(this.feed)
      this.#grid.scrollToTop()
    }
    if (route.selected && route.selected !== before.selected) this.#grid.active = route.selected
    this.draw()
  }

  /**
   * Returns the collection of a route, even if the server does not list this collection.
   * @param {Route} route
   * @returns {Resource}
   */
  #resourceOf({ group, version, plural }) {
    return this.#session.resources.find((r) => r.plural === plural && r.group === group) ??
      { group, version, plural, kind: plural, namespaced: true, shortNames: [] }
  }

  // Closes the previous collection and watches the collection of the route. If the page has no columns for the
  // collection, it requests the server's columns first.
  #follow() {
    const resource = this.#resourceOf(this.#navigation.route), title = titleOf(resource)
    this.leave()
    this.#selection.reset()
    resetAnnouncements()
    setText($('title'), title)
    this.#scope.show(this.#navigation.route.namespace, resource.namespaced)
    this.#sidebar.mark()
    this.#following = resource
    if (hasColumns(resource) || !resource.version) this.#open(resource, title) // no version: the server lacks the collection
    else {
      this.#session.printed(resource, namespacesOf(this.#navigation.route.namespace)[0] ?? '').then((printed) => {
        // The user may have switched to another collection in the meantime.
        if (this.#following === resource && !this.feed) this.#open(resource, title, printed)
      }).catch(reportError)
    }
  }

  /**
   * @param {Resource} resource
   * @param {string} title
   * @param {Printed} [printed] the columns that the server defines
   */
  #open(resource, title, printed) {
    const { namespace, selected } = this.#navigation.route
    const feed = this.feed = new Feed(this.#session.link, resource, namespace, () => this.draw(), printed)
    this.#cursor.rows = feed.rows
    this.#grid.show(feed.rows, feed.columns, namespace ? `${title} in ${namespace}` : title)
    this.#grid.active = selected
    this.#statusFilter.reset()
    this.#arrangement.filter(feed.rows)
    this.#arrangement.order(feed)
    this.draw()
  }

  /** @param {string} key */
  #select(key) {
    this.#grid.active = key
    this.#navigation.go({ selected: key })
    this.#grid.focus()
  }

  /** Draws in the next animation frame. */
  draw() {
    if (this.#due) return
    this.#due = true
    requestAnimationFrame(() => {
      this.#due = false
      this.#frame(Date.now(), performance.now())
    })
  }

  /**
   * @param {number} now in milliseconds
   * @param {number} began the start of the frame, from performance.now()
   */
  #frame(now, began) {
    const feed = this.feed
    if (!feed || this.#session.waiting) return showState(this.#session.waiting ?? { phase: 'waiting' }, feed, this.#navigation.route, now)
    this.#look(feed.state)
    const at = feed.paused?.at ?? now // a paused table also stops its ages and marks
    feed.rows.sweep(at)
    const searching = document.activeElement === $('search') // reads the rows from the focus on, not only from the first letter on
    feed.rows.counting = searching || this.#statusFilter.counts(feed.rows, isKnown(feed.state, 0))
    const { outdated } = feed.rows // a frame that filters or sorts all rows reads none, because both together would delay the next key
    const more = feed.rows.read(() => outdated || performance.now() - began > FRAME)
    if (!feed.state.progress || began - this.#arranged > ARRANGE) {
      this.#grid.hold()
      feed.rows.update()
      this.#arranged = began
    }
    this.#cursor.leaveRemoved()
    this.#grid.draw(at)
    this.#statusFilter.show(feed.rows, this.#navigation.route.statuses)
    showState(feed.state, feed, this.#navigation.route, now)
    showPaused(feed.paused, now)
    this.#grid.choose(this.#navigation.route.columns)
    this.#viewMenu.show(feed.columns, this.#navigation.route.columns)
    this.#selection.show(feed, this.#navigation.route, this.#session.resources, now)
    drawRate(feed.rate, now)
    if (more) this.draw()
    else this.#arrangement.announceMatches(feed.rows)
  }

  /**
   * Refreshes the menu of collections after a reconnect, and when the server no longer has the current collection.
   * @param {Status} state
   */
  #look({ phase, cause }) {
    const before = this.#seen
    this.#seen = { phase, code: cause?.code }
    // A watch that takes turns has the code "turns", although the server is reachable.
    const back = phase === 'live' && before.phase !== 'live' && before.code && before.code !== 'turns'
    const lost = cause?.code === 'not-found' && before.code !== cause.code
    if (back || lost) this.#session.refreshQuietly()
  }
}

new App().start()
