// Moves the active row of the table with the keyboard.

/**
 * @import { Detail } from './detail.js'
 * @import { Grid } from './grid.js'
 * @import { Route } from './route.js'
 * @import { Rows } from './rows.js'
 *
 * @typedef {{ readonly route: Route, go: (change: Partial<Route>) => void, close: () => void, draw: () => void }} Navigation
 */

export class Cursor {
  /** @type {Rows | undefined} */
  rows
  #grid
  #detail
  #app

  /**
   * @param {Grid} grid
   * @param {Detail} detail
   * @param {Navigation} app
   */
  constructor(grid, detail, app) {
    this.#grid = grid
    this.#detail = detail
    this.#app = app
  }

  /**
   * Moves the active row by a number of rows. Without an active row, it starts before the first row.
   * @param {number} by
   */
  move(by) {
    const { rows } = this
    if (!rows?.view.length) return
    const active = rows.get(this.#grid.active)
    const at = active?.placed ? rows.indexOf(active) + by : Math.max(0, by - 1)
    const index = Math.min(Math.max(at, 0), rows.view.length - 1)
    this.#grid.active = rows.view[index].key
    this.#grid.reveal(index)
    if (this.#detail.open) this.#app.go({ selected: this.#grid.active }) // the open detail follows the active row
    else this.#app.draw()
  }

  page(/** @type {1 | -1} */ direction) { this.move(direction * this.#grid.page) }

  edge(/** @type {boolean} */ last) { this.move(last ? Infinity : -Infinity) }

  /** Sorts by the n-th visible column, like a click on its title. */
  sortBy(/** @type {number} */ n) { this.#grid.sortBy(n) }

  /** Opens the detail. If it is already open, moves the focus into it. */
  open() {
    if (this.#detail.open) this.#detail.focus()
    else if (this.rows?.get(this.#grid.active)) this.#app.go({ selected: this.#grid.active })
  }

  /** Opens the detail of the active row in a tab. */
  openTab(/** @type {string} */ tab) {
    if (this.#detail.open) this.#app.go({ tab })
    else if (this.rows?.get(this.#grid.active)) this.#app.go({ selected: this.#grid.active, tab })
  }

  /** Closes the detail. If it is already closed, clears the search and the statuses. */
  escape() {
    const { selected, search, statuses } = this.#app.route
    if (selected) this.#app.close()
    else if (search || statuses.length) this.#app.go({ search: '', statuses: [] })
    this.#grid.focus()
  }
}
