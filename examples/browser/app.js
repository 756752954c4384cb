// The dashboard: where the page is decides what is followed, and what is followed is drawn once per frame.

import { $, announce, setText } from './dom.js'
import { Cursor } from './cursor.js'
import { ask, remember, serverOfPage } from './connect.js'
import { sortOf } from './columns/index.js'
import { Detail } from './detail.js'
import { titleOf } from './discovery.js'
import { Feed, followNamespaces } from './feed.js'
import { Grid } from './grid.js'
import { listen } from './keys.js'
import { wake } from './listwatch/index.js'
import { collectionOf, format, parse } from './place.js'
import { Reach } from './reach.js'
import { Scope } from './scope.js'
import { Sidebar } from './sidebar.js'
import { forget, showState } from './surroundings.js'
import { drawRate } from './sparkline.js'

const FRAME = 6 // milliseconds of a frame that reading rows may take
const ARRANGE = 120 // between two arrangements of a list that is still coming

class App {
  #link = { server: serverOfPage(), token: '' }
  #place = parse(location.hash)
  #resources = []
  #feed
  #waiting // in place of a feed's state, while the server was not reached
  #endNamespaces
  #due = false
  #seen = {} // phase of the feed, and code of its cause, when it was drawn last
  #arranged = 0 // when the rows were last, by the page's clock
  #searched = false // and nobody was told yet what was found
  #reach = new Reach({ found: (resources) => this.#found(resources), refused: (error) => this.#refused(error), waiting: (state) => this.#wait(state) })
  #sidebar = new Sidebar(() => this.#place)
  #scope = new Scope((namespace) => this.go({ namespace, selected: '' }))
  #detail = new Detail($('detail'), () => this.#cursor.escape())
  #grid = new Grid($('grid'), { sort: (id) => this.#sort(id), open: (key) => this.#select(key), scrolled: () => this.draw() })
  #cursor = new Cursor(this.#grid, this.#detail, this)

  start() {
    addEventListener('hashchange', () => this.#moved(parse(location.hash)))
    $('search').addEventListener('input', () => this.go({ search: $('search').value }))
    $('server').addEventListener('click', () => this.#change())
    $('help-open').addEventListener('click', () => $('help').showModal())
    $('retry').addEventListener('click', () => this.#retry())
    $('refresh').addEventListener('click', () => this.#refresh())
    for (const event of ['focus', 'online']) addEventListener(event, () => this.#reach.refresh(this.#link, true))
    document.addEventListener('themechange', () => this.draw())
    listen(this.#cursor)
    setInterval(() => this.draw(), 500)
    this.connect()
  }

  /** Shows what another server has. */
  connect() {
    setText($('server-name'), this.#link.server.replace(/^https?:\/\//, ''))
    this.#feed?.close()
    this.#feed = undefined
    this.#waiting = undefined
    this.#endNamespaces?.()
    this.#endNamespaces = undefined
    this.#reach.ask(this.#link)
  }

  // What is followed goes on, unless it is new or was not there before.
  #found(resources) {
    this.#waiting = undefined
    const same = JSON.stringify(resources) === JSON.stringify(this.#resources)
    if (same && this.#feed) return
    this.#resources = resources
    this.#sidebar.show(resources)
    this.#endNamespaces ??= followNamespaces(this.#link, (names) => this.#scope.names(names))
    if (!this.#place.plural) return this.go({ version: 'v1', plural: 'pods' })
    const found = this.#resourceOf(this.#place)
    const stands = this.#feed && JSON.stringify(found) === JSON.stringify(this.#feed.resource)
    if (!stands || this.#feed.state.phase === 'stopped') this.#follow()
  }

  async #refresh() {
    const before = this.#resources
    await this.#reach.refresh(this.#link)
    announce(this.#resources === before ? 'No other collections' : 'The collections have changed')
  }

  // Tries at once what would be tried later, or what was given up.
  #retry() {
    if (this.#waiting) this.#reach.ask(this.#link)
    else if (this.#feed?.state.phase === 'stopped') this.#follow()
    else wake()
  }

  #wait(state) {
    if (!this.#feed) this.#waiting = state // a feed tells how things stand by itself
    this.draw()
  }

  #refused({ status, message }) {
    this.#feed?.close()
    this.#feed = undefined
    this.#wait({ phase: 'stopped', stale: true, cause: { code: status === 401 ? 'unauthorized' : 'forbidden', message } })
    this.#change(`The server answered: ${message}`)
  }

  async #change(why) {
    const answer = await ask(this.#link, why)
    if (!answer) return
    this.#link = answer
    remember(answer.server)
    this.connect()
  }

  get place() { return this.#place }

  /** Goes to another place, of which only what differs is given. */
  go(change) {
    const place = { ...this.#place, ...change }
    const aside = !this.#place.plural || collectionOf(place) === collectionOf(this.#place) // going back shall not lead there
    history[aside ? 'replaceState' : 'pushState'](null, '', format(place))
    this.#moved(place)
  }

  #moved(place) {
    const before = this.#place
    this.#place = place
    if (!this.#resources.length) return
    if (!this.#feed || collectionOf(place) !== collectionOf(before) || place.namespace !== before.namespace) return this.#follow()
    if (place.search !== before.search) this.#search()
    if (place.sort !== before.sort || place.descending !== before.descending) this.#arrange()
    this.#grid.active = place.selected || this.#grid.active
    this.draw()
  }

  #resourceOf({ group, version, plural }) {
    return this.#resources.find((r) => r.plural === plural && r.group === group) ??
      { group, version, plural, kind: plural, namespaced: true, shortNames: [] }
  }

  // Follows the collection of the place, and nothing else.
  #follow() {
    const { namespace, selected } = this.#place
    const resource = this.#resourceOf(this.#place)
    this.#feed?.close()
    forget()
    this.#feed = new Feed(this.#link, resource, namespace, () => this.draw())
    const title = titleOf(resource)
    setText($('title'), title)
    this.#scope.show(namespace, resource.namespaced)
    this.#sidebar.mark()
    this.#cursor.rows = this.#feed.rows
    this.#grid.show(this.#feed.rows, this.#feed.columns, namespace ? `${title} in ${namespace}` : title)
    this.#grid.active = selected
    this.#detail.close()
    this.#search()
    this.#arrange()
    this.draw()
  }

  #search() {
    if ($('search').value !== this.#place.search) $('search').value = this.#place.search
    this.#feed.rows.search(this.#place.search)
    this.#searched = true
  }

  get #order() {
    return this.#place.sort ? this.#place : sortOf(this.#feed.resource)
  }

  #arrange() {
    const { sort, descending } = this.#order
    this.#feed.rows.sort(sort, descending)
    this.#grid.sorted(sort, descending)
  }

  // A column's title sorts by it, then the other way round, then not at all.
  #sort(id) {
    const { sort, descending } = this.#order
    if (sort !== id) this.go({ sort: id, descending: false })
    else this.go(descending ? { sort: '', descending: false } : { sort: id, descending: true })
    const now = this.#order
    announce(now.sort ? `Sorted by ${now.sort}, ${now.descending ? 'descending' : 'ascending'}` : 'Sorted by key')
  }

  #select(key) {
    this.#grid.active = key
    this.go({ selected: key })
    this.#grid.focus()
  }

  /** Draws what there is at the next frame. */
  draw() {
    if (this.#due) return
    this.#due = true
    requestAnimationFrame(() => {
      this.#due = false
      this.#frame(Date.now(), performance.now())
    })
  }

  #frame(now, began) {
    const feed = this.#feed
    if (!feed || this.#waiting) return showState(this.#waiting ?? { phase: 'loading', stale: true }, feed, this.#place, now)
    this.#look(feed.state)
    feed.rows.sweep(now)
    const more = feed.rows.read(() => performance.now() - began > FRAME)
    if (!feed.state.progress || began - this.#arranged > ARRANGE) {
      feed.rows.update()
      this.#arranged = began
    }
    this.#grid.draw(now)
    this.#showDetail(feed, now)
    showState(feed.state, feed, this.#place, now)
    drawRate(feed.rate, now)
    if (this.#searched && !more && this.#place.search) announce(`${feed.rows.view.length} of ${feed.rows.size} match`)
    this.#searched &&= more
    if (more) this.draw()
  }

  // A server that is back, and one that does not know the collection any more, may have others than before.
  #look({ phase, cause }) {
    const before = this.#seen
    this.#seen = { phase, code: cause?.code }
    const back = phase === 'live' && before.phase === 'interrupted'
    const lost = cause?.code === 'not-found' && before.code !== cause.code
    if (back || lost) this.#reach.refresh(this.#link)
  }

  #showDetail(feed, now) {
    const row = this.#place.selected && feed.rows.get(this.#place.selected)
    if (row) this.#detail.show(row, feed.history, feed.wholeOf(row), feed.resource, now)
    else if (!this.#place.selected) this.#detail.close()
  }
}

new App().start()
