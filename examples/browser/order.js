// Orders the rows of the table by a column, or by key.

import { natural } from './columns/format.js'

/**
 * @import { Column } from './columns/format.js'
 * @import { Row } from './row.js'
 */

export class Order {
  #columns
  #column = -1 // the index of the sort column; -1 for the key
  #sign = 1

  /** @param {Column[]} columns */
  constructor(columns) {
    this.#columns = columns
  }

  /** Reports whether the rows are sorted by key, which does not require their cells. */
  get byKey() { return this.#column < 0 }

  /**
   * Sorts by the column with this id, or by key if there is no such column.
   * @param {string} id
   * @param {boolean} descending
   */
  set(id, descending) {
    this.#column = this.#columns.findIndex((column) => column.id === id)
    this.#sign = descending ? -1 : 1
  }

  /**
   * Returns the sort key of a row. Unread rows come last.
   * @param {Row} row
   */
  rank(row) {
    if (this.byKey) return row.key
    if (!row.texts) return row.rank
    const value = row.values[this.#column]
    return this.#columns[this.#column].time ? -(value ?? NaN) : value ?? natural(row.texts[this.#column]) // times are shown as ages, so their order is reversed
  }

  /**
   * Returns a negative number if row a comes before row b, and a positive number if it comes after row b.
   * @param {Row} a
   * @param {Row} b
   */
  compare(a, b) {
    const sign = this.#sign
    // Only NaN differs from itself. Rows with NaN or without a rank come last in both directions.
    if (a.rank === b.rank || a.rank !== a.rank && b.rank !== b.rank) return a.key < b.key ? -sign : a.key > b.key ? sign : 0
    if (a.rank === undefined || a.rank !== a.rank) return 1
    if (b.rank === undefined || b.rank !== b.rank) return -1
    return a.rank < b.rank ? -sign : sign
  }
}
