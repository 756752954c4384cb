// Draws a row of the table.

import { h, setAttribute, setText } from './dom.js'
import { age } from './columns/format.js'
import { Flash } from './flash.js'

/**
 * @import { Column } from './columns/format.js'
 * @import { Row } from './row.js'
 */

/** A row element, which shows one row after another while the user scrolls. */
export class Line {
  /** @type {Row | undefined} */
  row
  #columns
  #cells
  #flash
  /** @type {number | undefined} The distance from the top of the table in pixels. */
  #top
  /** @type {number | undefined} The drawn version of the row. */
  #version

  /**
   * @param {string} id of the element
   * @param {Column[]} columns
   */
  constructor(id, columns) {
    this.#columns = columns
    this.#cells = columns.map((column, c) => h('div', { role: 'gridcell', 'aria-colindex': c + 1, class: [column.end && 'end', column.strong && 'strong', column.dot && 'dotted'].filter(Boolean).join(' ') },
      ...column.strong ? [h('span', { class: 'start' }), h('span', { class: 'tail' })] : []))
    this.element = h('div', { role: 'row', class: 'row', id }, ...this.#cells)
    this.element.hidden = true
    this.#flash = new Flash(this.element)
  }

  /**
   * Hides the cells of hidden columns. The cell of the stacked column moves below the first visible cell with a flexible
   * width.
   * @param {boolean[]} hidden whether each column is hidden
   * @param {number} stacked the index of the stacked column, or -1
   */
  arrange(hidden, stacked) {
    const upper = stacked < 0 ? -1 : this.#columns.findIndex(({ width }, c) => Array.isArray(width) && !hidden[c])
    this.#cells.forEach((cell, c) => {
      cell.hidden = hidden[c] && c !== stacked
      cell.classList.toggle('upper', c === upper)
      cell.classList.toggle('lower', c === stacked)
    })
    if (stacked >= 0) this.#cells[stacked].style.gridColumn = String(1 + hidden.slice(0, upper).filter((one) => !one).length)
  }

  /**
   * @param {Row} row
   * @param {number} i the position of the row in the view
   * @param {number} height in pixels
   * @param {boolean} active
   * @param {number} now in milliseconds
   */
  show(row, i, height, active, now) {
    const { element } = this
    const texts = row.read(this.#columns)
    element.hidden = false
    if (this.#top !== i * height) {
      this.#top = i * height
      element.style.transform = `translateY(${this.#top}px)`
    }
    setAttribute(element, 'aria-rowindex', i + 2) // starts at 1, and the header is the first row
    setAttribute(element, 'aria-selected', String(active))
    if (this.row !== row || this.#version !== row.version) {
      this.row = row
      this.#version = row.version
      element.dataset.key = row.key
      element.classList.toggle('gone', row.gone)
      this.#fill(texts, row.tones)
      this.#flash.show(row.mark, now)
    }
    this.#columns.forEach((column, c) => {
      if (column.time) setText(this.#cells[c], age(now - (row.values[c] ?? NaN)))
    })
  }

  /**
   * @param {string[]} texts
   * @param {(string | undefined)[]} tones
   */
  #fill(texts, tones) {
    this.#columns.forEach((column, c) => {
      if (column.time) return
      if (column.strong) setParts(this.#cells[c], texts[c])
      else setText(this.#cells[c], texts[c])
      setAttribute(this.#cells[c], 'data-tone', tones[c])
      setAttribute(this.#cells[c], 'title', texts[c].length > 18 && texts[c]) // the cell may be too narrow for it
    })
  }
}

const TAIL = 9 // the number of characters at the end of a long name that always remain visible, for example "-x2k4p" of a Pod

/**
 * Shows a name whose end remains visible if the cell is too narrow, because the end distinguishes the Pods of a controller.
 * @param {Element} cell
 * @param {string} text
 */
function setParts({ children: [start, tail] }, text) {
  const cut = text.length > 2 * TAIL ? text.length - TAIL : text.length
  setText(start, text.slice(0, cut))
  setText(tail, text.slice(cut))
}
