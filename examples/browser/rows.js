// The table as data: all rows of a collection, and of them those that are shown, in order. It knows no DOM and no clock.

import { natural } from './columns/format.js'

/** How long a change is marked, and a deleted row stays, in milliseconds. */
export const MARKED = 6000, LEAVING = 2500

/** A row reads its object when it is drawn, or somebody sorts or searches: most of a long list is never parsed. */
export class Row {
  texts // of its columns; undefined until it is read
  gone = false
  version = 0 // counts what is to be seen of it
  placed = false // whether it is in the view

  constructor(item) {
    this.key = item.key
    this.item = item
  }

  set(change) {
    this.was ??= this.texts
    if (!this.was && !change.initial) this.past ??= change // it has the object before it, unparsed
    this.item = change.item
    this.texts = undefined
    this.version++
  }

  read(columns) {
    if (this.texts) return
    const o = this.item.object
    this.values = columns.map((column) => column.time?.(o) ?? column.rank?.(o))
    this.texts = textsOf(columns, o)
    this.tones = columns.map((column, i) => column.tone?.(o, this.texts[i]))
    const labels = Object.entries(o.metadata?.labels ?? {}).map(([name, value]) => `${name}=${value}`)
    this.words = [this.key, ...this.texts, ...labels].join('\n').toLowerCase()
    if (this.mark) this.#compare(columns)
    this.was = this.past = undefined
  }

  #compare(columns) {
    const was = this.was ?? (this.past?.old && textsOf(columns, this.past.old))
    if (was) this.mark.cells = columns.flatMap((column, i) => (column.time || was[i] === this.texts[i] ? [] : [i]))
  }
}

const textsOf = (columns, o) => columns.map((column) => (column.time ? '' : column.text(o)))

export class Rows {
  view = []
  #all = new Map()
  #columns
  #unread = new Set()
  #moved = new Set() // rows whose place in the view is to be found again
  #whole = false // or all of them
  #marked = new Set()
  #terms = []
  #sort = { column: -1, sign: 1 }

  constructor(columns) {
    this.#columns = columns
  }

  get size() { return this.#all.size }
  get(key) { return this.#all.get(key) }

  /** Folds changes in. `now` in milliseconds. */
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
      row.mark = { type: change.type, at: now, missed: change.missed, cells: [] }
      this.#marked.add(row)
    }
  }

  /** Reads what order and search need until `enough()`, so that the page does not stand still; returns whether some are left. */
  read(enough) {
    if (this.#sort.column < 0 && !this.#terms.length) return false
    for (const row of this.#unread) {
      if (enough()) break
      this.#unread.delete(row)
      row.read(this.#columns)
      this.#moved.add(row)
    }
    return this.#unread.size > 0
  }

  search(text) {
    this.#terms = text.toLowerCase().split(/\s+/).filter(Boolean)
    this.#whole = true
  }

  /** Sorts by the column of that id; by key if there is none. */
  sort(id, descending) {
    this.#sort = { column: this.#columns.findIndex((column) => column.id === id), sign: descending ? -1 : 1 }
    this.#whole = true
  }

  /** Ends marks that are old, and takes out what has left; returns whether there are any others. */
  sweep(now) {
    for (const row of this.#marked) {
      if (row.gone && now - row.mark.at >= LEAVING) {
        this.#marked.delete(row)
        this.#all.delete(row.key)
        this.#unread.delete(row)
        this.#moved.add(row)
        row.left = true
      } else if (now - row.mark.at >= MARKED) {
        this.#marked.delete(row)
        row.mark = row.past = undefined
        row.version++
      }
    }
    return this.#marked.size > 0
  }

  /** Brings the view up to date; returns whether anything moved. Few changes cost little, however long the view is. */
  update() {
    if (!this.#whole && !this.#moved.size) return false
    if (this.#whole || this.#moved.size > 200) this.#arrange()
    else for (const row of this.#moved) this.#place(row)
    this.#moved.clear()
    this.#whole = false
    return true
  }

  /** Where a row is in the view, or would be. */
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
    this.view = [...this.#all.values()].filter((row) => this.#matches(row))
    for (const row of this.view) {
      row.rank = this.#rank(row)
      row.placed = true
    }
    this.view.sort((a, b) => this.#compare(a, b))
  }

  #place(row) {
    if (row.placed) this.view.splice(this.indexOf(row), 1)
    row.placed = !row.left && this.#matches(row)
    if (!row.placed) return
    row.rank = this.#rank(row)
    this.view.splice(this.indexOf(row), 0, row)
  }

  #matches(row) {
    const words = row.words ?? row.key.toLowerCase()
    return this.#terms.every((term) => words.includes(term))
  }

  // What is not read yet comes last until it is.
  #rank(row) {
    const { column } = this.#sort
    if (column < 0) return row.key
    if (!row.texts) return row.rank
    const value = row.values[column]
    return this.#columns[column].time ? -value : value ?? natural(row.texts[column]) // of a moment its age is shown
  }

  #compare(a, b) {
    const { sign } = this.#sort
    if (a.rank === b.rank || a.rank !== a.rank && b.rank !== b.rank) return a.key < b.key ? -sign : a.key > b.key ? sign : 0
    if (a.rank === undefined || a.rank !== a.rank) return 1
    if (b.rank === undefined || b.rank !== b.rank) return -1
    return a.rank < b.rank ? -sign : sign
  }
}
