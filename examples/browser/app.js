// The dashboard: where the page is decides what is followed, and what is followed is drawn once per frame.

import { $, announce, setText } from './dom.js'
import { ask, remember, serverOfPage } from './connect.js'
import { sortOf } from './columns/index.js'
import { Detail } from './detail.js'
import { discover, titleOf } from './discovery.js'
import { Feed, followNamespaces } from './feed.js'
import { Grid } from './grid.js'
import { listen } from './keys.js'
import { collectionOf, format, parse } from './place.js'
import { Scope } from './scope.js'
import { Sidebar } from './sidebar.js'
import { showState } from './surroundings.js'
import { drawRate } from './sparkline.js'

const FRAME = 6 // milliseconds of a frame that reading rows may take
const ARRANGE = 120 // between two arrangements of a list that is still coming

class App {
  #link = { server: serverOfPage(), token: '' }
  #place = parse(location.hash)
  #resources = []
  #feed
  #waiting // in place of a feed's state, while the server was not reached
  #endNamespaces = () => {}
  #due = false
  #arranged = 0
  #attempt = 0
  #sidebar = new Sidebar(() => this.#place)
  #scope = new Scope((namespace) => this.go({ namespace, selected: '' }))
  #detail = new Detail($('detail'), () => this.escape())
  #grid = new Grid($('grid'), { sort: (id) => this.#sort(id), open: (key) => this.#select(key), scrolled: () => this.draw() })

  start() {
    addEventListener('hashchange', () => this.#moved(parse(location.hash)))
    $('search').addEventListener('input', () => this.go({ search: $('search').value }))
    $('server').addEventListener('click', () => this.#change())
    $('help-open').addEventListener('click', () => $('help').showModal())
    document.addEventListener('themechange', () => this.draw())
    listen(this)
    setInterval(() => this.draw(), 500)
    this.connect()
  }

  /** Asks the server what it has, until it tells. */
  async connect() {
    const attempt = ++this.#attempt
    setText($('server-name'), this.#link.server.replace(/^https?:\/\//, ''))
    for (let delay = 1000; attempt === this.#attempt; delay = Math.min(2 * delay, 30_000)) {
      try {
        const resources = await discover(this.#link)
        if (attempt === this.#attempt) this.#connected(resources)
        return
      } catch (error) {
        if (attempt !== this.#attempt) return
        if (error.status === 401 || error.status === 403) return this.#change(`The server answered: ${error.message}`)
        this.#waiting = { phase: 'interrupted', stale: true, cause: { code: 'network', message: error.message }, retryAt: Date.now() + delay }
        this.draw()
        await new Promise((resolve) => setTimeout(resolve, delay))
      }
    }
  }

  #connected(resources) {
    this.#waiting = undefined
    this.#resources = resources
    this.#sidebar.show(resources)
    this.#endNamespaces()
    this.#endNamespaces = followNamespaces(this.#link, (names) => this.#scope.names(names))
    if (!this.#place.plural) return this.go({ version: 'v1', plural: 'pods' })
    this.#follow()
  }

  async #change(why) {
    const answer = await ask(this.#link, why)
    if (!answer) return
    this.#link = answer
    remember(answer.server)
    this.#feed?.close()
    this.#feed = undefined
    this.connect()
  }

  /** Goes to another place, of which only what differs is given. */
  go(change) {
    const place = { ...this.#place, ...change }
    history[collectionOf(place) === collectionOf(this.#place) ? 'replaceState' : 'pushState'](null, '', format(place))
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

  // Follows the collection of the place, and nothing else.
  #follow() {
    const { group, version, plural, namespace, selected } = this.#place
    const resource = this.#resources.find((r) => r.plural === plural && r.group === group) ??
      { group, version, plural, kind: plural, namespaced: true, shortNames: [] }
    this.#feed?.close()
    this.#feed = new Feed(this.#link, resource, namespace, () => this.draw())
    const title = titleOf(resource)
    setText($('title'), title)
    this.#scope.show(namespace, resource.namespaced)
    this.#sidebar.mark()
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
    this.searched = true
  }

  #arrange() {
    const { sort, descending } = this.#place.sort ? this.#place : sortOf(this.#feed.resource)
    this.#feed.rows.sort(sort, descending)
    this.#grid.sorted(sort, descending)
  }

  // A column's title sorts by it, then the other way round, then not at all.
  #sort(id) {
    const { sort, descending } = this.#place
    if (sort !== id) this.go({ sort: id, descending: false })
    else this.go(descending ? { sort: '', descending: false } : { descending: true })
    announce(this.#place.sort ? `Sorted by ${id}, ${this.#place.descending ? 'descending' : 'ascending'}` : 'Sorted by key')
  }

  #select(key) {
    this.#grid.active = key
    this.go({ selected: key })
    this.#grid.focus()
  }

  // What the keyboard does.

  move(by) {
    const { rows } = this.#feed ?? {}
    if (!rows?.view.length) return
    const active = rows.get(this.#grid.active)
    const at = active?.placed ? rows.indexOf(active) + by : Math.max(0, by - 1)
    this.#activate(Math.min(Math.max(at, 0), rows.view.length - 1))
  }

  page(direction) { this.move(direction * this.#grid.page) }

  edge(last) { this.move(last ? Infinity : -Infinity) }

  open() {
    if (this.#detail.open) return this.#detail.focus()
    if (this.#feed?.rows.get(this.#grid.active)) this.go({ selected: this.#grid.active })
  }

  escape() {
    if (this.#detail.open || this.#place.selected) this.go({ selected: '' })
    else if (this.#place.search) this.go({ search: '' })
    this.#grid.focus()
  }

  #activate(index) {
    const { key } = this.#feed.rows.view[index]
    this.#grid.active = key
    this.#grid.reveal(index)
    if (this.#detail.open) this.go({ selected: key })
    else this.draw()
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
    if (this.searched && !more && this.#place.search) announce(`${feed.rows.view.length} of ${feed.rows.size} match`)
    this.searched &&= more
    if (more) this.draw()
  }

  #showDetail(feed, now) {
    const row = this.#place.selected && feed.rows.get(this.#place.selected)
    if (row) this.#detail.show(row, feed.history, feed.resource, now)
    else if (!this.#place.selected) this.#detail.close()
  }
}

new App().start()
