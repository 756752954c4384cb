// The table: of its rows only those in sight are in the page, however many there are.

import { h, setAttribute, setText } from './dom.js'
import { age } from './columns/format.js'
import { Flash } from './flash.js'

const HEIGHT = 28, AROUND = 6 // of a row in pixels, as in grid.css; rows beyond each edge

export class Grid {
  active = '' // the key of the row that the keyboard is at
  #element
  #head = h('div', { role: 'row', class: 'head', 'aria-rowindex': 1 })
  #body = h('div', { role: 'rowgroup', class: 'body' })
  #pool = [] // of row elements, each for every n-th row
  #columns = []
  #spared = [] // per column whether there is no room for it
  #rows
  #sort
  #tell

  /** `tell` has `sort(id)`, `open(key)` and `scrolled()`. */
  constructor(element, tell) {
    this.#element = element
    this.#tell = tell
    element.setAttribute('role', 'grid')
    element.append(h('div', { role: 'rowgroup', class: 'heads' }, this.#head), this.#body)
    element.addEventListener('scroll', () => tell.scrolled(), { passive: true })
    new ResizeObserver(() => {
      this.#fit()
      tell.scrolled()
    }).observe(element)
    this.#body.addEventListener('click', ({ target }) => {
      const row = target.closest('.row')?.row
      if (row) tell.open(row.key)
    })
  }

  /** Shows other rows. `label` is what they are, for screen readers. */
  show(rows, columns, label) {
    this.#rows = rows
    this.#columns = columns
    this.#pool = []
    this.#body.replaceChildren()
    this.#element.scrollTop = 0
    this.#element.setAttribute('aria-label', label)
    this.#element.setAttribute('aria-colcount', columns.length)
    this.#head.replaceChildren(...columns.map((column) => h('div', { role: 'columnheader', class: column.end ? 'end' : '' },
      h('button', { tabindex: -1, onclick: () => this.#tell.sort(column.id) }, column.title))))
    this.#fit()
  }

  // Gives the room there is to the columns; those that can be spared go where it is too little, the last ones first.
  #fit() {
    const least = ({ width }) => (Array.isArray(width) ? width[0] : width)
    const sum = () => this.#columns.reduce((all, column, c) => (this.#spared[c] ? all : all + least(column)), 16)
    this.#spared = this.#columns.map(() => false)
    for (let c = this.#columns.length - 1; c >= 0; c--) this.#spared[c] = !!this.#columns[c].spare && sum() > this.#element.clientWidth
    const widths = this.#columns.filter((_, c) => !this.#spared[c])
      .map(({ width }) => (Array.isArray(width) ? `minmax(${width[0]}px, ${width[1]}fr)` : `${width}px`))
    this.#element.style.setProperty('--columns', widths.join(' '))
    this.#element.style.setProperty('--least', `${sum()}px`)
    for (const row of [this.#head, ...this.#pool]) this.#spare(row)
  }

  #spare(row) {
    this.#spared.forEach((spared, c) => { row.children[c].hidden = spared })
  }

  sorted(id, descending) {
    this.#columns.forEach((column, i) => {
      const order = column.id === id ? (descending ? 'descending' : 'ascending') : 'none'
      setAttribute(this.#head.children[i], 'aria-sort', order)
    })
    this.#sort = id
  }

  /** Brings what is in sight up to date. `now` in milliseconds. */
  draw(now) {
    const { view } = this.#rows
    const top = this.#element.scrollTop, height = this.#element.clientHeight
    const first = Math.max(0, Math.floor(top / HEIGHT) - AROUND)
    const last = Math.min(view.length, Math.ceil((top + height) / HEIGHT) + AROUND)
    this.#body.style.height = `${view.length * HEIGHT}px`
    setAttribute(this.#element, 'aria-rowcount', view.length + 1)
    this.#grow(Math.ceil(height / HEIGHT) + 2 * AROUND + 1)
    const used = new Set()
    for (let i = first; i < last; i++) {
      const element = this.#pool[i % this.#pool.length]
      used.add(element)
      this.#put(element, view[i], i, now)
    }
    for (const element of this.#pool) if (!used.has(element)) element.hidden = true
    const shown = this.#pool.find((element) => !element.hidden && element.row?.key === this.active)
    setAttribute(this.#element, 'aria-activedescendant', shown?.id)
  }

  #grow(n) {
    if (this.#pool.length >= n) return
    for (let i = this.#pool.length; i < n; i++) {
      const cells = this.#columns.map((column, c) => h('div', { role: 'gridcell', 'aria-colindex': c + 1, class: [column.end && 'end', column.strong && 'strong', column.dot && 'dotted'].filter(Boolean).join(' ') }))
      const element = h('div', { role: 'row', class: 'row', id: `row-${i}` }, ...cells)
      this.#spare(element)
      element.flash = new Flash(element)
      element.hidden = true
      this.#pool.push(element)
      this.#body.append(element)
    }
    for (const element of this.#pool) element.row = undefined // each is for others now
  }

  #put(element, row, i, now) {
    row.read(this.#columns)
    element.hidden = false
    if (element.index !== i) {
      element.index = i
      element.style.transform = `translateY(${i * HEIGHT}px)`
      element.setAttribute('aria-rowindex', i + 2)
      element.classList.toggle('odd', i % 2 === 1)
    }
    setAttribute(element, 'aria-selected', String(row.key === this.active))
    if (element.row !== row || element.version !== row.version) {
      element.row = row
      element.version = row.version
      this.#fill(element, row)
      element.flash.show(row.mark, now)
    }
    this.#columns.forEach((column, c) => {
      if (column.time) setText(element.children[c], age(now - row.values[c]))
    })
  }

  #fill(element, row) {
    element.classList.toggle('gone', row.gone)
    this.#columns.forEach((column, c) => {
      const cell = element.children[c]
      if (column.time) return
      setText(cell, row.texts[c])
      setAttribute(cell, 'data-tone', row.tones[c])
      setAttribute(cell, 'title', row.texts[c].length > 18 && row.texts[c])
    })
  }

  get page() {
    return Math.max(1, Math.floor(this.#element.clientHeight / HEIGHT) - 2)
  }

  /** Makes a row's place visible. */
  reveal(index) {
    const top = index * HEIGHT, height = this.#element.clientHeight - HEIGHT - 2 // the head covers one
    if (top < this.#element.scrollTop) this.#element.scrollTop = top
    else if (top + HEIGHT > this.#element.scrollTop + height) this.#element.scrollTop = top + HEIGHT - height
  }

  focus() {
    this.#element.focus({ preventScroll: true })
  }
}
