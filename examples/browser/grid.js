// Draws the table. It creates elements only for visible rows.

import { h, setAttribute, setText } from './dom.js'
import { age } from './columns/format.js'
import { fit } from './fit.js'
import { Flash } from './flash.js'

/**
 * @import { Column } from './columns/format.js'
 * @import { Row } from './row.js'
 * @import { Rows } from './rows.js'
 *
 * @typedef {{ sort: (id: string) => void, open: (key: string) => void, scrolled: () => void }} Callbacks
 *
 * @typedef {object} Line A row element and its content.
 * @property {HTMLElement} element
 * @property {HTMLElement[]} cells
 * @property {Flash} flash
 * @property {number} [index] the position of the row in the view
 * @property {Row} [row]
 * @property {number} [version] the drawn version of the row
 */

const HEIGHT = 28, AROUND = 6 // row height in pixels, the same as in grid.css, and number of extra rows above and below the visible rows

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
  #spared = []
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

  #fit() {
    const { spared, width, tracks } = fit(this.#columns, this.#element.clientWidth)
    this.#spared = spared
    this.#element.style.setProperty('--columns', tracks)
    this.#element.style.setProperty('--least', `${width}px`)
    for (const cells of [this.#titles, ...this.#pool.map((line) => line.cells)]) this.#spare(cells)
  }

  /** @param {HTMLElement[]} cells */
  #spare(cells) {
    this.#spared.forEach((spared, c) => { cells[c].hidden = spared })
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
    const first = Math.max(0, Math.floor(top / HEIGHT) - AROUND)
    const last = Math.min(view.length, Math.ceil((top + height) / HEIGHT) + AROUND)
    this.#body.style.height = `${view.length * HEIGHT}px`
    setAttribute(this.#element, 'aria-rowcount', view.length + 1)
    this.#grow(Math.ceil(height / HEIGHT) + 2 * AROUND + 1)
    const used = new Set()
    for (let i = first; i < last; i++) {
      const line = this.#pool[i % this.#pool.length]
      used.add(line)
      this.#put(line, view[i], i, now)
    }
    for (const line of this.#pool) if (!used.has(line)) line.element.hidden = true
    const shown = this.#pool.find(({ element, row }) => !element.hidden && row?.key === this.active)
    setAttribute(this.#element, 'aria-activedescendant', shown?.element.id)
  }

  /** @param {number} n */
  #grow(n) {
    if (this.#pool.length >= n) return
    for (let i = this.#pool.length; i < n; i++) {
      const cells = this.#columns.map((column, c) => h('div', { role: 'gridcell', 'aria-colindex': c + 1, class: [column.end && 'end', column.strong && 'strong', column.dot && 'dotted'].filter(Boolean).join(' ') }))
      const element = h('div', { role: 'row', class: 'row', id: `row-${i}` }, ...cells)
      this.#spare(cells)
      element.hidden = true
      this.#pool.push({ element, cells, flash: new Flash(element) })
      this.#body.append(element)
    }
    for (const line of this.#pool) line.row = undefined // draw() must fill each line again
  }

  /**
   * Shows a row in a line.
   * @param {Line} line
   * @param {Row} row
   * @param {number} i
   * @param {number} now
   */
  #put(line, row, i, now) {
    const { element, cells } = line
    const texts = row.read(this.#columns)
    element.hidden = false
    if (line.index !== i) {
      line.index = i
      element.style.transform = `translateY(${i * HEIGHT}px)`
      element.setAttribute('aria-rowindex', String(i + 2))
      element.classList.toggle('odd', i % 2 === 1)
    }
    setAttribute(element, 'aria-selected', String(row.key === this.active))
    if (line.row !== row || line.version !== row.version) {
      line.row = row
      line.version = row.version
      element.dataset.key = row.key
      element.classList.toggle('gone', row.gone)
      this.#fill(cells, texts, row.tones)
      line.flash.show(row.mark, now)
    }
    this.#columns.forEach((column, c) => {
      if (column.time) setText(cells[c], age(now - (row.values[c] ?? NaN)))
    })
  }

  /**
   * @param {HTMLElement[]} cells
   * @param {string[]} texts
   * @param {(string | undefined)[]} tones
   */
  #fill(cells, texts, tones) {
    this.#columns.forEach((column, c) => {
      if (column.time) return
      setText(cells[c], texts[c])
      setAttribute(cells[c], 'data-tone', tones[c])
      setAttribute(cells[c], 'title', texts[c].length > 18 && texts[c])
    })
  }

  /**
   * Sorts by the n-th visible column. It does nothing if there are fewer columns.
   * @param {number} n starts at 1
   */
  sortBy(n) {
    const column = this.#columns.filter((_, c) => !this.#spared[c])[n - 1]
    if (column) this.#callbacks.sort(column.id)
  }

  get page() {
    return Math.max(1, Math.floor(this.#element.clientHeight / HEIGHT) - 2)
  }

  /**
   * Scrolls to a row.
   * @param {number} index in the view
   */
  reveal(index) {
    const top = index * HEIGHT, height = this.#element.clientHeight - HEIGHT - 2 // the header covers one row
    if (top < this.#element.scrollTop) this.#element.scrollTop = top
    else if (top + HEIGHT > this.#element.scrollTop + height) this.#element.scrollTop = top + HEIGHT - height
  }

  focus() {
    this.#element.focus({ preventScroll: true })
  }
}
