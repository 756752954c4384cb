// Moves the active row of the table with the keyboard.

/**
 * @import { Detail } from './detail.js'
 * @import { Grid } from './grid.js'
 * @import { Navigation } from './navigation.js'
 * @import { Row } from './row.js'
 * @import { Rows } from './rows.js'
 *
 * @typedef {Pick<Navigation, 'route' | 'go' | 'close'>} Moves
 */

export class Cursor {
  /** @type {Rows | undefined} */
  rows
  /** @type {Row | undefined} The active row when `leaveRemoved` was last called. */
  #row
  #grid
  #detail
  #navigation
  #draw

  /**
   * @param {Grid} grid
   * @param {Detail} detail
   * @param {{ navigation: Moves, draw: () => void }} page
   */
  constructor(grid, detail, { navigation, draw }) {
    this.#grid = grid
    this.#detail = detail
    this.#navigation = navigation
    this.#draw = draw
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
    if (this.#detail.open) this.#navigation.go({ selected: this.#grid.active }) // an open details pane follows the active row
    else this.#draw()
  }

  /** Moves to the neighboring row if the table has removed the active row. An open details pane keeps its object. */
  leaveRemoved() {
    const { rows } = this, { active } = this.#grid
    const row = rows?.get(active)
    if (row) this.#row = row
    else if (rows && this.#row?.left && this.#row.key === active) {
      // indexOf returns the position at which the removed row would be: that of its former neighbor.
      const index = Math.min(rows.indexOf(this.#row), rows.view.length - 1)
      this.#grid.active = rows.view[index]?.key ?? ''
    }
  }

  page(/** @type {1 | -1} */ direction) { this.move(direction * this.#grid.page) }

  edge(/** @type {boolean} */ last) { this.move(last ? Infinity : -Infinity) }

  /** Sorts by the n-th visible column, like a click on its title. */
  sortBy(/** @type {number} */ n) { this.#grid.sortBy(n) }

  /** Opens the details pane for the active row. If the pane is already open, it receives the focus. */
  open() {
    if (this.#detail.open) this.#detail.focus()
    else if (this.rows?.get(this.#grid.active)) this.#navigation.go({ selected: this.#grid.active })
  }

  /** Shows the given tab of the details pane. If the pane is closed, it opens for the active row. */
  openTab(/** @type {string} */ tab) {
    if (this.#detail.open) this.#navigation.go({ tab })
    else if (this.rows?.get(this.#grid.active)) this.#navigation.go({ selected: this.#grid.active, tab })
  }

  /** Closes the details pane. If the pane is already closed, clears the search and the status filter. */
  escape() {
    const { selected, search, statuses } = this.#navigation.route
    if (selected) this.#navigation.close()
    else if (search || statuses.length) this.#navigation.go({ search: '', statuses: [] })
    this.#grid.focus()
  }
}
