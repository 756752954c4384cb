// The dashboard watches the collection that the page's URL selects, and draws it at most once per animation frame.

import { $, $of, announce, setText } from './dom.js'
import { Cursor } from './cursor.js'
import { sortOf } from './columns/index.js'
import { Detail } from './detail.js'
import { titleOf } from './discovery.js'
import { Feed } from './feed.js'
import { Grid } from './grid.js'
import { listen } from './keys.js'
import { wake } from './listwatch/index.js'
import { collectionOf, format, isFiltered, parse } from './route.js'
import { Scope } from './scope.js'
import { Session } from './session.js'
import { Sidebar } from './sidebar.js'
import { drawRate } from './sparkline.js'
import { explain, isKnown, needsToken } from './status.js'
import { StatusFilter } from './statusfilter.js'
import { resetAnnouncements, showState } from './statusview.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Route } from './route.js'
 * @import { Status } from './status.js'
 */

const FRAME = 6 // milliseconds per frame for reading rows
const ARRANGE = 120 // milliseconds between two updates of the order while a list arrives
const DRAW = 500 // milliseconds between two redraws that only update the ages

class App {
  #route = parse(location.hash)
  /** @type {Feed | undefined} */
  feed
  #due = false
  /** @type {{ phase?: string, code?: string }} State of the feed at the last redraw. */
  #seen = {}
  #arranged = 0 // the time of the last update of the order, from performance.now()
  #searched = false // whether the number of matches has not been announced yet
  #searchInput = $of('search', HTMLInputElement)
  #session = new Session(this)
  #sidebar = new Sidebar(() => this.#route)
  #scope = new Scope((namespace) => this.go({ namespace, selected: '' }))
  #detail = new Detail($('detail'), { close: () => this.#cursor.escape(), choose: (tab) => this.go({ tab }) })
  #grid = new Grid($('grid'), { sort: (id) => this.#sort(id), open: (key) => this.#select(key), scrolled: () => this.draw() })
  #statusFilter = new StatusFilter($('statuses'), (statuses) => this.go({ statuses }))
  #cursor = new Cursor(this.#grid, this.#detail, this)

  start() {
    addEventListener('hashchange', () => this.#visited(parse(location.hash)))
    this.#searchInput.addEventListener('input', () => this.go({ search: this.#searchInput.value }))
    $('server').addEventListener('click', () => this.#session.change())
    $('help-open').addEventListener('click', () => $of('help', HTMLDialogElement).showModal())
    $('retry').addEventListener('click', () => this.#retry())
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
  }

  /** Shows the collections of the server. The feed stays open unless its collection has changed. */
  show() {
    this.#sidebar.show(this.#session.resources)
    if (!this.#route.plural) return this.go({ version: 'v1', plural: 'pods' })
    const { feed } = this
    const unchanged = feed && JSON.stringify(this.#resourceOf(this.#route)) === JSON.stringify(feed.resource)
    if (!unchanged || feed.state.phase === 'stopped') this.#follow()
  }

  /** @param {string[] | null} names */
  showNamespaces(names) {
    this.#scope.names(names)
  }

  // Asks for another token if the server rejected this one. Otherwise it retries immediately.
  #retry() {
    const state = this.#session.waiting ?? this.feed?.state
    if (state && needsToken(state)) this.#session.change(explain(state.cause).long)
    else if (this.#session.waiting) this.#session.load()
    else if (this.feed?.state.phase === 'stopped') this.#follow()
    else wake()
  }

  get route() { return this.#route }

  /**
   * Changes the route within the current collection. Links change the collection. The Back button skips the previous
   * route unless the change opens the detail.
   * @param {Partial<Route>} change
   */
  go(change) {
    const route = { ...this.#route, ...change }
    if (route.selected && !this.#route.selected) history.pushState({ opened: true }, '', format(route))
    else history.replaceState(history.state, '', format(route))
    this.#moved(route)
  }

  /** Closes the detail. If `go` has opened it, this is the same as the Back button. */
  close() {
    if (history.state?.opened) history.back()
    else this.go({ selected: '' })
  }

  // Shows the route of the page's URL after the Back button or a link has changed it. Back closes the detail and keeps
  // the search and the order that the user has chosen since it was opened.
  /** @param {Route} route */
  #visited(route) {
    const closes = this.#route.selected && !route.selected && collectionOf(route) === collectionOf(this.#route)
    if (closes) this.go({ selected: '' })
    else this.#moved(route)
  }

  /** @param {Route} route */
  #moved(route) {
    const before = this.#route
    this.#route = route
    if (!this.feed && !this.#session.resources.length) return
    if (!this.feed || collectionOf(route) !== collectionOf(before) || route.namespace !== before.namespace) return this.#follow()
    if (route.search !== before.search || route.statuses.join() !== before.statuses.join()) this.#filter(this.feed)
    if (route.sort !== before.sort || route.descending !== before.descending) this.#arrange(this.feed)
    this.#grid.active = route.selected || this.#grid.active
    this.draw()
  }

  /**
   * Returns the collection of a route. The collection may exist even if the server does not list it.
   * @param {Route} route
   * @returns {Resource}
   */
  #resourceOf({ group, version, plural }) {
    return this.#session.resources.find((r) => r.plural === plural && r.group === group) ??
      { group, version, plural, kind: plural, namespaced: true, shortNames: [] }
  }

  // Watches the collection of the route instead of the previous one.
  #follow() {
    const { namespace, selected } = this.#route
    const resource = this.#resourceOf(this.#route)
    this.feed?.close()
    resetAnnouncements()
    const feed = this.feed = new Feed(this.#session.link, resource, namespace, () => this.draw())
    const title = titleOf(resource)
    setText($('title'), title)
    this.#scope.show(namespace, resource.namespaced)
    this.#sidebar.mark()
    this.#cursor.rows = feed.rows
    this.#grid.show(feed.rows, feed.columns, namespace ? `${title} in ${namespace}` : title)
    this.#grid.active = selected
    this.#detail.close()
    this.#statusFilter.reset()
    this.#filter(feed)
    this.#arrange(feed)
    this.draw()
  }

  /** @param {Feed} feed */
  #filter(feed) {
    const { search, statuses } = this.#route
    if (this.#searchInput.value !== search) this.#searchInput.value = search
    feed.rows.search(search)
    feed.rows.select(statuses)
    this.#searched = true
  }

  /** @param {Feed} feed */
  #orderOf(feed) {
    return this.#route.sort ? this.#route : sortOf(feed.resource)
  }

  /** @param {Feed} feed */
  #arrange(feed) {
    const { sort, descending } = this.#orderOf(feed)
    feed.rows.sort(sort, descending)
    this.#grid.sorted(sort, descending)
  }

  /**
   * Sorts by a column: ascending, then descending, then in the default order.
   * @param {string} id
   */
  #sort(id) {
    if (!this.feed) return
    const { sort, descending } = this.#orderOf(this.feed)
    if (sort !== id) this.go({ sort: id, descending: false })
    else this.go(descending ? { sort: '', descending: false } : { sort: id, descending: true })
    const now = this.#orderOf(this.feed)
    announce(now.sort ? `Sorted by ${now.sort}, ${now.descending ? 'descending' : 'ascending'}` : 'Sorted by key')
  }

  /** @param {string} key */
  #select(key) {
    this.#grid.active = key
    this.go({ selected: key })
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
    if (!feed || this.#session.waiting) return showState(this.#session.waiting ?? { phase: 'loading', stale: true }, feed, this.#route, now)
    this.#look(feed.state)
    feed.rows.sweep(now)
    feed.rows.counting = this.#statusFilter.counts(feed.rows, isKnown(feed.state, 0))
    const more = feed.rows.read(() => performance.now() - began > FRAME)
    if (!feed.state.progress || began - this.#arranged > ARRANGE) {
      feed.rows.update()
      this.#arranged = began
    }
    this.#grid.draw(now)
    this.#showDetail(feed, now)
    this.#statusFilter.show(feed.rows, this.#route.statuses)
    showState(feed.state, feed, this.#route, now)
    drawRate(feed.rate, now)
    if (this.#searched && !more && isFiltered(this.#route)) announce(`${feed.rows.view.length} of ${feed.rows.size} match`)
    this.#searched &&= more
    if (more) this.draw()
  }

  /**
   * Refreshes the collections after a reconnect, and when the server no longer has the current collection.
   * @param {Status} state
   */
  #look({ phase, cause }) {
    const before = this.#seen
    this.#seen = { phase, code: cause?.code }
    const back = phase === 'live' && before.phase === 'interrupted'
    const lost = cause?.code === 'not-found' && before.code !== cause.code
    if (back || lost) this.#session.refreshQuietly()
  }

  /**
   * @param {Feed} feed
   * @param {number} now
   */
  #showDetail(feed, now) {
    const row = feed.rows.get(this.#route.selected)
    const { tab, namespace } = this.#route
    if (row) this.#detail.show(row, feed, { tab, namespace, resources: this.#session.resources }, now)
    else if (!this.#route.selected) this.#detail.close()
  }
}

new App().start()
