// Holds the table's data: all rows of a collection, and the sorted view of the matching rows. It does not depend on the
// DOM or a clock.

import { natural } from './columns/format.js'
import { Row } from './row.js'

/**
 * @import { Change } from './listwatch/index.js'
 * @import { Column, Kube } from './columns/format.js'
 */

/** The time in milliseconds that a change stays marked, and that a deleted row stays visible. */
export const MARKED = 6000, LEAVING = 2500

/**
 * Returns the string that a row's search text must contain to match a term. "app=web" matches a whole line of that
 * text, and "app=" matches the start of a line.
 * @param {string} term
 */
const needleOf = (term) => (!term.includes('=') ? term : term.endsWith('=') ? `\n${term}` : `\n${term}\n`)

export class Rows {
  /** @type {Row[]} */
  view = []
  /** @type {Map<string, Row>} */
  #all = new Map()
  #columns
  /** @type {Set<Row>} */
  #unread = new Set()
  /** @type {Set<Row>} Rows that may have moved in the view. */
  #moved = new Set()
  #allMoved = false // whether all rows may have moved
  /** @type {Set<Row>} */
  #marked = new Set()
  /** @type {string[]} */
  #terms = []
  #sort = { column: -1, sign: 1 }
  /** @type {Set<string>} */
  #statuses = new Set()
  /** @type {Map<string, number>} The number of matching rows by status. It counts only rows that have been read. */
  counts = new Map()
  counting = false // whether read() reads all rows to count their statuses

  /** @param {Column[]} columns */
  constructor(columns) {
    this.#columns = columns
  }

  get hasStatus() { return this.#columns.some(({ dot }) => dot) }
  get size() { return this.#all.size }
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
        row.gone = true
        row.version++
      } else if (row) {
        row.set(change)
        row.gone = false
      } else this.#all.set(change.key, row = new Row(change.item))
      if (!row.gone) this.#unread.add(row)
      this.#moved.add(row)
      if (change.initial) continue
      row.mark = { type: change.type, at: now, finalStateUnknown: change.finalStateUnknown, cells: [] }
      this.#marked.add(row)
    }
  }

  /**
   * Reads rows for sorting, searching and counting until `enough()` returns true, so that the page stays responsive. Returns
   * whether unread rows remain.
   * @param {() => boolean} enough
   */
  read(enough) {
    if (this.#sort.column < 0 && !this.#terms.length && !this.#statuses.size && !this.counting) return false
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
   * Selects the rows that contain all words of a text. A word with "=" must equal a label, the node or an owner.
   * @param {string} text
   */
  search(text) {
    this.#terms = text.toLowerCase().split(/\s+/).filter(Boolean).map(needleOf)
    this.#allMoved = true
  }

  /**
   * Selects the rows with one of these statuses. An empty list selects all rows.
   * @param {string[]} statuses
   */
  select(statuses) {
    this.#statuses = new Set(statuses)
    this.#allMoved = true
  }

  /**
   * Sorts by the column with this id, or by key if there is no such column.
   * @param {string} id
   * @param {boolean} descending
   */
  sort(id, descending) {
    this.#sort = { column: this.#columns.findIndex((column) => column.id === id), sign: descending ? -1 : 1 }
    this.#allMoved = true
  }

  /**
   * Removes old marks and deleted rows. Returns whether marks remain.
   * @param {number} now in milliseconds
   */
  sweep(now) {
    for (const row of this.#marked) {
      const elapsed = now - (row.mark?.at ?? now)
      if (row.gone && elapsed >= LEAVING) {
        this.#marked.delete(row)
        this.#all.delete(row.key)
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
   * Updates the view. Returns whether rows moved. The cost of a few changes does not depend on the length of the view.
   */
  update() {
    if (!this.#allMoved && !this.#moved.size) return false
    if (this.#allMoved || this.#moved.size > 200) this.#arrange()
    else for (const row of this.#moved) this.#insert(row)
    this.#moved.clear()
    this.#allMoved = false
    return true
  }

  /**
   * Returns the index of a row in the view, or the index at which it belongs.
   * @param {Row} row
   */
  indexOf(row) {
    let low = 0, high = this.view.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(this.view[middle], row) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #arrange() {
    for (const row of this.view) row.placed = false
    this.view = [...this.#all.values()].filter((row) => this.#shows(row))
    for (const row of this.view) {
      row.rank = this.#rank(row)
      row.placed = true
    }
    this.view.sort((a, b) => this.#compare(a, b))
  }

  /** @param {Row} row */
  #insert(row) {
    if (row.placed) this.view.splice(this.indexOf(row), 1)
    row.placed = this.#shows(row)
    if (!row.placed) return
    row.rank = this.#rank(row)
    this.view.splice(this.indexOf(row), 0, row)
  }

  /**
   * Reports whether a row belongs to the view, and counts its status.
   * @param {Row} row
   */
  #shows(row) {
    const found = !row.left && this.#matches(row)
    this.#count(row, found && !row.gone && row.status || undefined)
    return found && (!this.#statuses.size || this.#statuses.has(row.status ?? ''))
  }

  /**
   * Counts a row under a status, and no longer under its previous status.
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

  /** @param {Row} row */
  #matches(row) {
    const words = row.words ?? row.key.toLowerCase()
    return this.#terms.every((term) => words.includes(term))
  }

  /**
   * Returns the sort key of a row. Unread rows come last.
   * @param {Row} row
   */
  #rank(row) {
    const { column } = this.#sort
    if (column < 0) return row.key
    if (!row.texts) return row.rank
    const value = row.values[column]
    return this.#columns[column].time ? -(value ?? NaN) : value ?? natural(row.texts[column]) // times are shown as ages, so their order is reversed
  }

  /**
   * @param {Row} a
   * @param {Row} b
   */
  #compare(a, b) {
    const { sign } = this.#sort
    if (a.rank === b.rank || a.rank !== a.rank && b.rank !== b.rank) return a.key < b.key ? -sign : a.key > b.key ? sign : 0
    if (a.rank === undefined || a.rank !== a.rank) return 1
    if (b.rank === undefined || b.rank !== b.rank) return -1
    return a.rank < b.rank ? -sign : sign
  }
}
