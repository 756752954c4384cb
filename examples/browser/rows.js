// Holds the table's data: all rows of a collection, and the sorted view of the matching rows. It does not depend on the
// DOM or a clock.

import { Filter } from './filter.js'
import { Order } from './order.js'
import { Row } from './row.js'

/**
 * @import { Change } from './listwatch/index.js'
 * @import { Column, Kube } from './columns/format.js'
 */

/** How long a change stays marked, and a deleted row stays visible, in milliseconds. */
export const MARKED = 6000, LEAVING = 2500

export class Rows {
  /** @type {Row[]} The rows that match, in order. */
  view = []
  /** @type {Row[]} All rows in order, so that a search need not sort. */
  #sorted = []
  /** @type {Map<string, Row>} */
  #all = new Map()
  #columns
  #order
  /** @type {Set<Row>} Rows whose objects have not been parsed since their last change. */
  #unread = new Set()
  /** @type {Set<Row>} Rows that may have moved. */
  #moved = new Set()
  #refiltered = false // whether all rows may have entered or left the view
  #reordered = false // whether the order has changed, so that all rows have moved
  /** @type {Set<Row>} Rows with a mark, including deleted rows. */
  #marked = new Set()
  /** @type {Row | undefined} A row that stays in the view, even if it is deleted or no longer matches. */
  #held
  #gone = 0 // the number of deleted rows that are still shown
  #filter = new Filter()
  /** @type {Map<string, number>} The number of matching rows by status. It counts only rows that have been read. */
  counts = new Map()
  counting = false // whether read() reads all rows to count their statuses

  /** @param {Column[]} columns */
  constructor(columns) {
    this.#columns = columns
    this.#order = new Order(columns)
  }

  get hasStatus() { return this.#columns.some(({ dot }) => dot) }
  /** The number of rows, without deleted rows. */
  get size() { return this.#all.size - this.#gone }
  /** The number of rows in the view, without deleted rows. */
  get shown() {
    const gone = this.#gone && [...this.#marked].filter((row) => row.gone && row.placed).length
    return this.view.length - gone
  }
  /** Reports whether the next update must filter or sort all rows. */
  get outdated() { return this.#refiltered || this.#reordered }
  get(/** @type {string} */ key) { return this.#all.get(key) }

  /**
   * Applies changes.
   * @param {readonly Change<Kube>[]} changes
   * @param {number} now in milliseconds
   */
  apply(changes, now) {
    for (const change of changes) {
      let row = this.#all.get(change.key)
      if (change.type === 'deleted') {
        if (!row) continue
        this.#setGone(row, true)
        row.version++
      } else if (row) {
        row.set(change)
        this.#setGone(row, false)
      } else {
        this.#all.set(change.key, row = new Row(change.item))
        if (!change.initial) row.arrived = now
      }
      if (!row.gone) this.#unread.add(row)
      this.#moved.add(row)
      if (change.initial) continue
      row.mark = { type: change.type, at: now, finalStateUnknown: change.finalStateUnknown, cells: [] }
      this.#marked.add(row)
    }
  }

  /** @param {Row} row @param {boolean} gone */
  #setGone(row, gone) {
    this.#gone += Number(gone) - Number(row.gone)
    row.gone = gone
  }

  /**
   * Reads rows, because sorting, searching and counting need their cells. Stops when `enough()` returns true, so that
   * the page stays responsive. Returns whether unread rows remain.
   * @param {() => boolean} enough
   */
  read(enough) {
    if (this.#order.byKey && this.#filter.empty && !this.counting) return false
    for (const row of this.#unread) {
      if (enough()) break
      this.#unread.delete(row)
      row.read(this.#columns)
      this.#moved.add(row)
    }
    return this.#unread.size > 0
  }

  /**
   * Reads the cells of a row again. It ignores an unknown key.
   * @param {string} key
   */
  reread(key) {
    const row = this.#all.get(key)
    if (!row) return
    row.discard()
    this.#unread.add(row)
    this.#moved.add(row)
  }

  /**
   * Selects the rows that contain all words of a text. A word with "=" must equal a label, the node or an owner, such
   * as "app=web" or "node=n1". If it ends with "=", any value matches.
   * @param {string} text
   */
  search(text) {
    this.#filter.search(text)
    this.#refiltered = true
  }

  /**
   * Selects the rows with one of these statuses. An empty list selects all rows.
   * @param {string[]} statuses
   */
  select(statuses) {
    this.#filter.select(statuses)
    this.#refiltered = true
  }

  /**
   * Sorts by the column with this id, or by key if there is no such column.
   * @param {string} id
   * @param {boolean} descending
   */
  sort(id, descending) {
    this.#order.set(id, descending)
    for (const row of this.#all.values()) this.#moved.add(row)
    this.#reordered = true
  }

  /**
   * Keeps a row in the view, because the user may be about to click it. Releases the previous one.
   * @param {Row | undefined} row
   */
  hold(row) {
    if (row === this.#held) return
    if (this.#held) this.#moved.add(this.#held)
    this.#held = row
  }

  /**
   * Removes old marks and deleted rows. Returns whether marks remain.
   * @param {number} now in milliseconds
   */
  sweep(now) {
    for (const row of this.#marked) {
      const elapsed = now - (row.mark?.at ?? now)
      if (row === this.#held && row.gone) continue // removed as soon as the pointer leaves it
      if (row.gone && elapsed >= LEAVING) {
        this.#marked.delete(row)
        this.#all.delete(row.key)
        this.#gone--
        this.#unread.delete(row)
        this.#moved.add(row)
        row.left = true
        this.#count(row, undefined)
      } else if (elapsed >= MARKED) {
        this.#marked.delete(row)
        row.mark = row.past = undefined
        row.version++
      }
    }
    return this.#marked.size > 0
  }

  /**
   * Updates the view. Returns whether rows moved. The cost of a few changes does not depend on the number of rows.
   */
  update() {
    if (!this.#refiltered && !this.#moved.size) return false
    // For many rows, a merge is faster: #insert moves a part of both arrays for each row.
    if (this.#reordered || this.#moved.size > 200) this.#merge()
    else for (const row of this.#moved) this.#insert(row)
    if (this.#refiltered) {
      for (const row of this.#sorted) row.placed = this.#shows(row)
      this.view = this.#sorted.filter(({ placed }) => placed)
    }
    this.#moved.clear()
    this.#refiltered = this.#reordered = false
    return true
  }

  /**
   * Returns the index of a row in the view, or the index at which it belongs.
   * @param {Row} row
   */
  indexOf(row) { return this.#indexIn(this.view, row) }

  /** @param {Row[]} rows @param {Row} row */
  #indexIn(rows, row) {
    let low = 0, high = rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#order.compare(rows[middle], row) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  // Sorts only the rows that may have moved, and merges them with the others.
  #merge() {
    for (const row of this.#moved) {
      row.rank = this.#order.rank(row)
      row.placed = this.#shows(row)
    }
    const moved = [...this.#moved].filter(({ left }) => !left).sort((a, b) => this.#order.compare(a, b))
    const rest = this.#sorted.filter((row) => !this.#moved.has(row))
    const sorted = []
    let next = 0
    for (const row of rest) {
      while (next < moved.length && this.#order.compare(moved[next], row) < 0) sorted.push(moved[next++])
      sorted.push(row)
    }
    this.#sorted = sorted.concat(moved.slice(next))
    for (const row of this.#sorted) row.sorted = true
    this.view = this.#sorted.filter(({ placed }) => placed)
  }

  /** @param {Row} row */
  #insert(row) {
    if (row.sorted) this.#sorted.splice(this.#indexIn(this.#sorted, row), 1)
    if (row.placed) this.view.splice(this.indexOf(row), 1)
    row.rank = this.#order.rank(row)
    row.sorted = !row.left
    row.placed = this.#shows(row)
    if (row.sorted) this.#sorted.splice(this.#indexIn(this.#sorted, row), 0, row)
    if (row.placed) this.view.splice(this.indexOf(row), 0, row)
  }

  /**
   * Reports whether a row belongs to the view, and counts its status.
   * @param {Row} row
   */
  #shows(row) {
    const found = !row.left && this.#filter.matches(row)
    this.#count(row, found && !row.gone && row.status || undefined)
    return found && this.#filter.selects(row) || row === this.#held && !row.left
  }

  /**
   * Moves a row from the count of its previous status to the count of this status.
   * @param {Row} row
   * @param {string | undefined} status
   */
  #count(row, status) {
    const before = row.counted
    if (before === status) return
    row.counted = status
    if (status) this.counts.set(status, (this.counts.get(status) ?? 0) + 1)
    const left = before && (this.counts.get(before) ?? 0) - 1
    if (before && left) this.counts.set(before, left)
    else if (before) this.counts.delete(before)
  }
}
