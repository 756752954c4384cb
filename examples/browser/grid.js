// Draws the table. It creates elements only for visible rows.

import { h, setAttribute, setText } from './dom.js'
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
const AROUND = 6 // number of extra rows above and below the visible rows, so that scrolling does not show empty space
const MOST_ANCHORS = 100 // more rows than a window shows

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
  /** @type {string[]} The ids of the columns that the user has chosen; empty for all. */
  #chosen = []
  #stacked = -1 // index of the namespace column if its cells are below the name, or -1
  /** @type {Rows | undefined} */
  #rows
  #callbacks
  /** @type {number | undefined} The height of the pointer in the window, while it is over the table. */
  #pointer
  #scrollTop = 0 // the position to which this class has scrolled to keep a row in its place
  #byUser = false // whether the user or the keyboard has scrolled since the first row was last visible
  #lead = 0 // the height in pixels of the empty space above the first row, if rows above an anchor have disappeared
  /** @type {Row[]} The rows that must keep their place in the window: the first one that remains does. */
  #anchors = []
  #anchorsAt = 0 // the index of the first anchor before the change
  #topSeen = 0 // when the first row was last visible, in milliseconds
  #above = h('button', { class: 'above', onclick: () => { this.scrollToTop(); this.#callbacks.scrolled() } })

  /**
   * @param {HTMLElement} element
   * @param {Callbacks} callbacks
   */
  constructor(element, callbacks) {
    this.#element = element
    this.#callbacks = callbacks
    element.setAttribute('role', 'grid')
    element.append(h('div', { role: 'rowgroup', class: 'heads' }, this.#head), this.#body)
    this.#above.hidden = true
    element.after(this.#above)
    element.addEventListener('scroll', () => callbacks.scrolled(), { passive: true })
    element.addEventListener('pointermove', ({ clientY }) => { this.#pointer = clientY }, { passive: true })
    element.addEventListener('pointerleave', () => {
      this.#pointer = undefined
      callbacks.scrolled()
    })
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
    this.scrollToTop()
    this.#element.setAttribute('aria-label', label)
    this.#element.setAttribute('aria-colcount', String(columns.length))
    this.#titles = columns.map((column) => h('div', { role: 'columnheader', class: column.end ? 'end' : '' },
      h('button', { onclick: () => this.#callbacks.sort(column.id) }, column.title)))
    this.#head.replaceChildren(...this.#titles)
    this.#fit()
  }

  /** @param {string[]} ids the columns to show; empty for all */
  choose(ids) {
    if (ids.join() === this.#chosen.join()) return
    this.#chosen = ids
    this.#fit()
  }

  get #height() {
    return this.#stacked < 0 ? HEIGHT : STACKED
  }

  #fit() {
    const { hidden, stacked, width, tracks } = fit(this.#columns, this.#element.clientWidth, this.#chosen)
    const rows = this.#element.scrollTop / this.#height
    this.#hidden = hidden
    this.#stacked = stacked
    this.#element.classList.toggle('stacked', stacked >= 0)
    this.#element.style.setProperty('--columns', tracks)
    this.#element.style.setProperty('--least', `${width}px`)
    this.#titles.forEach((title, c) => { title.hidden = hidden[c] })
    for (const line of this.#pool) line.arrange(hidden, stacked)
    this.#body.style.height = `${(this.#rows?.view.length ?? 0) * this.#height}px` // scrollTop cannot exceed the height
    if (this.#scrolled) this.#scrollTo(rows * this.#height)
  }

  /** @param {number} top */
  #scrollTo(top) {
    this.#element.scrollTop = top
    this.#scrollTop = this.#element.scrollTop // the browser may round it
  }

  get #scrolled() {
    const { scrollTop } = this.#element
    if (!scrollTop) this.#byUser = false
    else if (scrollTop !== this.#scrollTop) this.#byUser = true
    return this.#byUser
  }

  /**
   * Remembers which rows must keep their place, before the rows change: those from the row under the pointer, or from the
   * first visible row if the user has scrolled.
   */
  hold() {
    const view = this.#rows?.view ?? [], pointed = this.#pointer !== undefined
    const at = pointed ? Math.floor(((this.#pointer ?? 0) - this.#body.getBoundingClientRect().top) / this.#height) : -1
    this.#rows?.hold(view[at])
    this.#anchorsAt = view[at] ? at : this.#first
    this.#anchors = pointed || this.#scrolled ? view.slice(this.#anchorsAt, this.#anchorsAt + MOST_ANCHORS) : []
  }

  /** The index of the first row that is completely visible. */
  get #first() { return Math.max(0, Math.ceil((this.#element.scrollTop - this.#lead) / this.#height)) }

  // Scrolls so that the first remaining anchor keeps its place. Without anchors, the table returns to the top, unless the
  // user has scrolled.
  #settle() {
    const { scrollTop, clientHeight } = this.#element, size = (this.#rows?.view.length ?? 0) * this.#height
    const i = this.#anchors.findIndex(({ placed }) => placed), anchor = this.#anchors[i]
    const moved = anchor && this.#rows ? this.#rows.indexOf(anchor) - this.#anchorsAt - i : 0
    const top = anchor ? scrollTop - this.#lead + moved * this.#height : this.#scrolled ? scrollTop : 0
    this.#anchors = []
    this.#lead = Math.max(0, -top)
    this.#body.style.top = `${this.#lead}px`
    this.#body.style.height = `${Math.max(size, anchor ? top + clientHeight - HEIGHT : 0)}px` // high enough to scroll to top
    if (Math.max(0, top) !== scrollTop) this.#scrollTo(Math.max(0, top))
  }

  // Counts the rows that have arrived above the visible rows since the first row was last visible.
  #countAbove(/** @type {Row[]} */ view, /** @type {number} */ now) {
    const first = this.#first
    if (!first) this.#topSeen = now
    const count = view.slice(0, first).filter(({ arrived }) => arrived > this.#topSeen).length
    this.#above.hidden = !count
    if (count) setText(this.#above, `↑ ${count} new above`)
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
    this.#settle()
    const top = this.#element.scrollTop - this.#lead, height = this.#element.clientHeight
    const first = Math.max(0, Math.floor(top / this.#height) - AROUND)
    const last = Math.min(view.length, Math.ceil((top + height) / this.#height) + AROUND)
    this.#countAbove(view, now)
    setAttribute(this.#element, 'aria-rowcount', view.length + 1) // with the header
    this.#grow(Math.ceil(height / this.#height) + 2 * AROUND + 1)
    const used = new Set()
    for (let i = first; i < last; i++) {
      const line = this.#pool[i % this.#pool.length] // scrolling refills only the lines of new rows
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

  // The number of rows by which a page key moves. It excludes the header and one row, so that pages overlap.
  get page() {
    return Math.max(1, Math.floor(this.#element.clientHeight / this.#height) - 2)
  }

  /**
   * Scrolls to a row.
   * @param {number} index in the view
   */
  reveal(index) {
    const top = index * this.#height + this.#lead, height = this.#element.clientHeight - HEIGHT - 2 // without the header
    if (top < this.#element.scrollTop) this.#element.scrollTop = top
    else if (top + this.#height > this.#element.scrollTop + height) this.#element.scrollTop = top + this.#height - height
  }

  /** Scrolls to the top. The rows may move until the pointer moves again. */
  scrollToTop() {
    this.#pointer = undefined
    this.#byUser = false
    this.#anchors = []
    this.#scrollTo(0)
  }

  focus() {
    this.#element.focus({ preventScroll: true })
  }
}
