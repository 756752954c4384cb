// Draws the table. It creates elements only for visible rows.

import { h, setAttribute } from './dom.js'
import { fit } from './fit.js'
import { Line } from './line.js'

/**
 * @import { Column } from './columns/format.js'
 * @import { Row } from './row.js'
 * @import { Rows } from './rows.js'
 *
 * @typedef {{ sort: (id: string) => void, open: (key: string) => void, scrolled: () => void }} Callbacks
 */

const HEIGHT = 28, STACKED = 44 // height in pixels of the header and of most rows, and of rows with the namespace below the name; the same as in grid.css
const AROUND = 6 // number of extra rows above and below the visible rows

export class Grid {
  active = '' // key of the active row
  #element
  #head = h('div', { role: 'row', class: 'head', 'aria-rowindex': 1 })
  /** @type {HTMLElement[]} */
  #titles = []
  #body = h('div', { role: 'rowgroup', class: 'body' })
  /** @type {Line[]} Line i shows every n-th row, starting with row i. */
  #pool = []
  /** @type {Column[]} */
  #columns = []
  /** @type {boolean[]} Whether each column is hidden. */
  #hidden = []
  #stacked = -1 // index of the namespace column if its cells are below the name, or -1
  /** @type {Rows | undefined} */
  #rows
  #callbacks

  /**
   * @param {HTMLElement} element
   * @param {Callbacks} callbacks
   */
  constructor(element, callbacks) {
    this.#element = element
    this.#callbacks = callbacks
    element.setAttribute('role', 'grid')
    element.append(h('div', { role: 'rowgroup', class: 'heads' }, this.#head), this.#body)
    element.addEventListener('scroll', () => callbacks.scrolled(), { passive: true })
    new ResizeObserver(() => {
      this.#fit()
      callbacks.scrolled()
    }).observe(element)
    this.#body.addEventListener('click', ({ target }) => {
      const line = this.#pool.find(({ element }) => target instanceof Node && element.contains(target))
      if (line?.row) callbacks.open(line.row.key)
    })
  }

  /**
   * Replaces the rows and columns of the table.
   * @param {Rows} rows
   * @param {Column[]} columns
   * @param {string} label for screen readers
   */
  show(rows, columns, label) {
    this.#rows = rows
    this.#columns = columns
    this.#pool = []
    this.#body.replaceChildren()
    this.#element.scrollTop = 0
    this.#element.setAttribute('aria-label', label)
    this.#element.setAttribute('aria-colcount', String(columns.length))
    this.#titles = columns.map((column) => h('div', { role: 'columnheader', class: column.end ? 'end' : '' },
      h('button', { onclick: () => this.#callbacks.sort(column.id) }, column.title)))
    this.#head.replaceChildren(...this.#titles)
    this.#fit()
  }

  get #height() {
    return this.#stacked < 0 ? HEIGHT : STACKED
  }

  #fit() {
    const { hidden, stacked, width, tracks } = fit(this.#columns, this.#element.clientWidth)
    const rows = this.#element.scrollTop / this.#height
    this.#hidden = hidden
    this.#stacked = stacked
    this.#element.classList.toggle('stacked', stacked >= 0)
    this.#element.style.setProperty('--columns', tracks)
    this.#element.style.setProperty('--least', `${width}px`)
    this.#titles.forEach((title, c) => { title.hidden = hidden[c] })
    for (const line of this.#pool) line.arrange(hidden, stacked)
    this.#body.style.height = `${(this.#rows?.view.length ?? 0) * this.#height}px` // scrollTop cannot exceed the height
    this.#element.scrollTop = rows * this.#height
  }

  /**
   * Marks the sort column.
   * @param {string} id
   * @param {boolean} descending
   */
  sorted(id, descending) {
    this.#columns.forEach((column, i) => {
      const order = column.id === id ? (descending ? 'descending' : 'ascending') : 'none'
      setAttribute(this.#titles[i], 'aria-sort', order)
    })
  }

  /**
   * Draws the visible rows.
   * @param {number} now in milliseconds
   */
  draw(now) {
    const view = this.#rows?.view ?? []
    const top = this.#element.scrollTop, height = this.#element.clientHeight
    const first = Math.max(0, Math.floor(top / this.#height) - AROUND)
    const last = Math.min(view.length, Math.ceil((top + height) / this.#height) + AROUND)
    this.#body.style.height = `${view.length * this.#height}px`
    setAttribute(this.#element, 'aria-rowcount', view.length + 1)
    this.#grow(Math.ceil(height / this.#height) + 2 * AROUND + 1)
    const used = new Set()
    for (let i = first; i < last; i++) {
      const line = this.#pool[i % this.#pool.length]
      used.add(line)
      line.show(view[i], i, this.#height, view[i].key === this.active, now)
    }
    for (const line of this.#pool) if (!used.has(line)) line.element.hidden = true
    const shown = this.#pool.find(({ element, row }) => !element.hidden && row?.key === this.active)
    setAttribute(this.#element, 'aria-activedescendant', shown?.element.id)
  }

  /** @param {number} n */
  #grow(n) {
    if (this.#pool.length >= n) return
    for (let i = this.#pool.length; i < n; i++) {
      const line = new Line(`row-${i}`, this.#columns)
      line.arrange(this.#hidden, this.#stacked)
      this.#pool.push(line)
      this.#body.append(line.element)
    }
    for (const line of this.#pool) line.row = undefined // draw() must fill each line again
  }

  /**
   * Sorts by the n-th visible column. It does nothing if there are fewer columns.
   * @param {number} n starts at 1
   */
  sortBy(n) {
    const column = this.#columns.filter((_, c) => !this.#hidden[c])[n - 1]
    if (column) this.#callbacks.sort(column.id)
  }

  get page() {
    return Math.max(1, Math.floor(this.#element.clientHeight / this.#height) - 2)
  }

  /**
   * Scrolls to a row.
   * @param {number} index in the view
   */
  reveal(index) {
    const top = index * this.#height, height = this.#element.clientHeight - HEIGHT - 2 // without the header
    if (top < this.#element.scrollTop) this.#element.scrollTop = top
    else if (top + this.#height > this.#element.scrollTop + height) this.#element.scrollTop = top + this.#height - height
  }

  scrollToTop() {
    this.#element.scrollTop = 0
  }

  focus() {
    this.#element.focus({ preventScroll: true })
  }
}
