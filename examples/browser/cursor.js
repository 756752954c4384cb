// Where the keyboard is in the table, and what it does there.

export class Cursor {
  rows // those that are shown
  #grid
  #detail
  #app

  /** `app` has `place`, `go(change)` and `draw()`. */
  constructor(grid, detail, app) {
    this.#grid = grid
    this.#detail = detail
    this.#app = app
  }

  /** Moves by that many rows; from nowhere to the first. */
  move(by) {
    const { rows } = this
    if (!rows?.view.length) return
    const active = rows.get(this.#grid.active)
    const at = active?.placed ? rows.indexOf(active) + by : Math.max(0, by - 1)
    const index = Math.min(Math.max(at, 0), rows.view.length - 1)
    this.#grid.active = rows.view[index].key
    this.#grid.reveal(index)
    if (this.#detail.open) this.#app.go({ selected: this.#grid.active }) // it follows
    else this.#app.draw()
  }

  page(direction) { this.move(direction * this.#grid.page) }

  edge(last) { this.move(last ? Infinity : -Infinity) }

  /** Opens the detail; once it is, goes into it. */
  open() {
    if (this.#detail.open) this.#detail.focus()
    else if (this.rows?.get(this.#grid.active)) this.#app.go({ selected: this.#grid.active })
  }

  /** Closes the detail; else ends the search. */
  escape() {
    const { selected, search } = this.#app.place
    if (selected) this.#app.go({ selected: '' })
    else if (search) this.#app.go({ search: '' })
    this.#grid.focus()
  }
}
