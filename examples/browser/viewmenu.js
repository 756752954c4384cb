// Shows the menu in which the user chooses columns and exports rows.

import { isChosen } from './columns/index.js'
import { $, h } from './dom.js'

/**
 * @import { Column } from './columns/format.js'
 *
 * @typedef {object} Callbacks
 * @property {(ids: string[]) => void} choose receives the ids of the chosen columns; none for the default columns
 * @property {(kind: 'csv' | 'json') => void} save
 */

export class ViewMenu {
  #callbacks
  #fields = h('fieldset', {}, h('legend', {}, 'Columns'))
  #shown = ''

  /** @param {Callbacks} callbacks */
  constructor(callbacks) {
    this.#callbacks = callbacks
    const saves = /** @type {const} */ (['csv', 'json']).map((kind) => h('button', { onclick: () => callbacks.save(kind) }, `Export as ${kind.toUpperCase()}`))
    $('view').replaceChildren(this.#fields, ...saves)
  }

  /**
   * @param {Column[]} columns
   * @param {string[]} chosen the ids of the chosen columns; none for the default columns
   */
  show(columns, chosen) {
    const state = JSON.stringify([columns.map(({ id }) => id), chosen])
    if (state === this.#shown) return
    this.#shown = state
    const boxes = columns.map((column) => ({ id: column.id, title: column.title, box: h('input', { type: 'checkbox', disabled: !!column.strong }) }))
    for (const { id, box } of boxes) {
      box.checked = isChosen(chosen, { id })
      box.addEventListener('change', () => {
        const ids = boxes.filter((one) => one.box.checked).map((one) => one.id)
        this.#shown = JSON.stringify([columns.map((one) => one.id), ids.length === columns.length ? [] : ids]) // keeps the focus in the menu
        this.#callbacks.choose(ids.length === columns.length ? [] : ids)
      })
    }
    this.#fields.replaceChildren(h('legend', {}, 'Columns'), ...boxes.map(({ title, box }) => h('label', {}, box, ' ', title)))
  }
}
