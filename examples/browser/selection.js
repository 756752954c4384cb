// Shows the object that the route selects in the details pane, or the reason why it is missing.

import { isKnown, missingMessage } from './status.js'

/**
 * @import { Detail } from './detail.js'
 * @import { Resource } from './discovery.js'
 * @import { Feed } from './feed.js'
 * @import { Grid } from './grid.js'
 * @import { Route } from './route.js'
 * @import { Row } from './row.js'
 * @import { Rows } from './rows.js'
 */

export class Selection {
  #grid
  #detail
  /** @type {Row | undefined} The shown row. It remains after the deletion of its object. */
  #row
  #revealed = false // whether the table has scrolled to the row that the URL selects

  /**
   * @param {Grid} grid
   * @param {Detail} detail
   */
  constructor(grid, detail) {
    this.#grid = grid
    this.#detail = detail
  }

  /** Closes the details pane before another collection opens. */
  reset() {
    this.#detail.close()
    this.#row = undefined
    this.#revealed = false
  }

  /**
   * Shows the selected object, or closes the details pane if the route selects none.
   * @param {Feed} feed
   * @param {Route} route
   * @param {Resource[]} resources all collections of the server
   * @param {number} now in milliseconds
   */
  show(feed, { selected, tab, namespace }, resources, now) {
    const row = this.#rowOf(feed.rows, selected)
    this.#reveal(feed.rows, row)
    if (row) this.#detail.show(row, feed, { tab, namespace, resources }, now)
    else if (selected && isKnown(feed.state, 0)) this.#showMissing(feed, selected, namespace)
    else this.#detail.close()
    if (!row || tab !== 'events') feed.endEvents()
    if (!row || (tab || 'overview') !== 'overview') feed.endOwned()
  }

  /**
   * Returns the row with this key, even after the table has removed it.
   * @param {Rows} rows
   * @param {string} key
   */
  #rowOf(rows, key) {
    const row = rows.get(key)
    if (row || this.#row?.key !== key) this.#row = row
    return this.#row
  }

  /**
   * Scrolls once to the row that a link has selected.
   * @param {Rows} rows
   * @param {Row | undefined} row
   */
  #reveal(rows, row) {
    if (this.#revealed || !row?.placed) return
    this.#revealed = true
    this.#grid.reveal(rows.indexOf(row))
  }

  /**
   * @param {Feed} feed
   * @param {string} key
   * @param {string} chosen the namespace that the page shows, or ""
   */
  #showMissing({ resource: { kind }, state }, key, chosen) {
    const slash = key.indexOf('/'), namespace = key.slice(0, Math.max(slash, 0)), name = key.slice(slash + 1)
    this.#detail.showMissing({ kind, name, namespace }, missingMessage(state, { kind, name, namespace }, chosen))
  }
}
