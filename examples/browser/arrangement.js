// Applies the search, the statuses and the order of the route to the table.

import { $of, announce } from './dom.js'
import { sortOf } from './columns/index.js'
import { isFiltered } from './route.js'

/**
 * @import { Feed } from './feed.js'
 * @import { Grid } from './grid.js'
 * @import { Navigation } from './navigation.js'
 * @import { Rows } from './rows.js'
 */

export class Arrangement {
  #navigation
  #grid
  #input = $of('search', HTMLInputElement)
  #searched = false // whether the number of matches must still be announced

  /**
   * @param {Navigation} navigation
   * @param {Grid} grid
   */
  constructor(navigation, grid) {
    this.#navigation = navigation
    this.#grid = grid
    this.#input.addEventListener('input', () => navigation.go({ search: this.#input.value }))
  }

  /** @param {Rows} rows */
  filter(rows) {
    const { search, statuses } = this.#navigation.route
    if (this.#input.value !== search) this.#input.value = search
    rows.search(search)
    rows.select(statuses)
    this.#searched = true
  }

  /**
   * Announces the number of matches once after each change of the filter. Call it when all rows have been read.
   * @param {Rows} rows
   */
  announceMatches(rows) {
    if (this.#searched && isFiltered(this.#navigation.route)) announce(`${rows.view.length} of ${rows.size} match`)
    this.#searched = false
  }

  /** @param {Pick<Feed, 'resource'>} feed */
  #orderOf({ resource }) {
    return this.#navigation.route.sort ? this.#navigation.route : sortOf(resource)
  }

  /** @param {Feed} feed */
  order(feed) {
    const { sort, descending } = this.#orderOf(feed)
    feed.rows.sort(sort, descending)
    this.#grid.sorted(sort, descending)
  }

  /**
   * Sorts by a column. Repeated calls sort in ascending, descending and default order.
   * @param {Feed} feed
   * @param {string} id
   */
  sort(feed, id) {
    const { sort, descending } = this.#orderOf(feed)
    if (sort !== id) this.#navigation.go({ sort: id, descending: false })
    else this.#navigation.go(descending ? { sort: '', descending: false } : { sort: id, descending: true })
    const now = this.#orderOf(feed)
    announce(now.sort ? `Sorted by ${now.sort}, ${now.descending ? 'descending' : 'ascending'}` : 'Sorted by key')
  }
}
