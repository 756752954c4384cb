// Keeps the route of the page in its URL.

import { collectionOf, format, parse } from './route.js'

/** @import { Route } from './route.js' */

export class Navigation {
  #changed
  #route = parse(location.hash)

  /** @param {(route: Route, before: Route) => void} changed called after each change of the route */
  constructor(changed) {
    this.#changed = changed
    addEventListener('hashchange', () => this.#visited(parse(location.hash)))
  }

  get route() { return this.#route }

  /**
   * Changes the route within the current collection. Links change the collection. Opening the details pane adds a
   * history entry, and any other change replaces the current entry.
   * @param {Partial<Route>} change
   */
  go(change) {
    const route = { ...this.#route, ...change }
    if (route.selected && !this.#route.selected) history.pushState({ opened: true }, '', format(route))
    else history.replaceState(history.state, '', format(route))
    this.#move(route)
  }

  /** Closes the details pane. If `go` has opened the pane, this has the same effect as the Back button. */
  close() {
    if (history.state?.opened) history.back()
    else this.go({ selected: '' })
  }

  /**
   * Shows the route of the page's URL after the Back button or a link has changed the URL. If Back closes the details
   * pane, the page keeps the search and the order that the user has chosen while the pane was open.
   * @param {Route} route
   */
  #visited(route) {
    const closes = this.#route.selected && !route.selected && collectionOf(route) === collectionOf(this.#route)
    if (closes) this.go({ selected: '' })
    else this.#move(route)
  }

  /** @param {Route} route */
  #move(route) {
    const before = this.#route
    this.#route = route
    this.#changed(route, before)
  }
}
