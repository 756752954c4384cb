// Filters the table by status. Each status is a button that shows its number of objects.

import { h, setAttribute, setText } from './dom.js'

/** @import { Rows } from './rows.js' */

const MOST = 12 // the maximum number of buttons
const FREE = 1000 // for more objects, the statuses are counted only after a click, because counting parses all objects

export class StatusFilter {
  #element
  #choose
  #asked = false // whether the user has requested the count
  /** @type {Map<string, HTMLElement>} */
  #buttons = new Map()
  // Choosing the same statuses makes the app draw again and call counts.
  #ask = h('button', { class: 'chip', onclick: () => { this.#asked = true; this.#choose(this.#chosen) } }, 'Count by status')
  /** @type {string[]} */
  #chosen = []

  /**
   * @param {HTMLElement} element
   * @param {(statuses: string[]) => void} choose called with the selected statuses when they change or the user requests counts
   */
  constructor(element, choose) {
    this.#element = element
    this.#choose = choose
  }

  /** Forgets that the user has requested the count for the previous collection. */
  reset() { this.#asked = false }

  /**
   * Reports whether the rows should count their statuses.
   * @param {Rows} rows
   * @param {boolean} known whether the first list is complete
   */
  counts(rows, known) { return known && rows.hasStatus && (this.#asked || rows.size <= FREE) }

  /**
   * Shows the most frequent statuses, ordered by name, and the selected ones.
   * @param {Rows} rows
   * @param {string[]} chosen the selected statuses
   */
  show(rows, chosen) {
    this.#chosen = chosen
    const frequent = [...rows.counts].sort(([, a], [, b]) => b - a).slice(0, MOST).map(([status]) => status)
    const statuses = [...new Set([...frequent, ...chosen])].sort()
    const buttons = statuses.map((status) => this.#button(status, rows.counts.get(status) ?? 0))
    const elements = rows.hasStatus && rows.size > FREE && !rows.counting ? [...buttons, this.#ask] : buttons
    this.#element.hidden = !elements.length
    const { children } = this.#element
    if (elements.length !== children.length || elements.some((element, i) => element !== children[i])) this.#element.replaceChildren(...elements)
  }

  /**
   * @param {string} status
   * @param {number} count
   */
  #button(status, count) {
    const button = this.#buttons.get(status) ?? h('button', { class: 'chip', onclick: () => this.#toggle(status) }, h('span'), ' ', h('span', { class: 'number' }))
    this.#buttons.set(status, button)
    setText(button.children[0], status)
    setText(button.children[1], count.toLocaleString('en'))
    setAttribute(button, 'aria-pressed', String(this.#chosen.includes(status)))
    return button
  }

  /** @param {string} status */
  #toggle(status) {
    this.#choose(this.#chosen.includes(status) ? this.#chosen.filter((other) => other !== status) : [...this.#chosen, status])
  }
}
