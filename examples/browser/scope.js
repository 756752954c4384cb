// Selects a namespace from a list, or in a text field if the namespaces cannot be listed.

import { $, h } from './dom.js'

/** @typedef {(namespace: string) => void} Choose */

export class Scope {
  #choose
  #select = h('select', { 'aria-label': 'Namespace' })
  #input = h('input', { type: 'text', 'aria-label': 'Namespace', placeholder: 'All namespaces', autocomplete: 'off', spellcheck: 'false' })
  /** @type {string[]} */
  #names = []
  #current = ''

  /** @param {Choose} choose */
  constructor(choose) {
    this.#choose = choose
    for (const element of [this.#select, this.#input]) element.addEventListener('change', () => this.#choose(element.value.trim()))
    $('scope').append(this.#select, this.#input)
    this.names([])
  }

  /**
   * Sets the names of the namespaces. If they cannot be listed, `names` is null, and the user types a name.
   * @param {string[] | null} names
   */
  names(names) {
    this.#select.hidden = names === null
    this.#input.hidden = names !== null
    if (names && names.join() === this.#names.join() && this.#select.children.length) return
    this.#names = names ?? []
    this.#draw()
  }

  /**
   * Shows the selected namespace. An empty string selects all namespaces.
   * @param {string} current
   * @param {boolean} namespaced
   */
  show(current, namespaced) {
    $('scope').hidden = !namespaced
    if (current === this.#current) return
    this.#current = current
    this.#draw()
  }

  #draw() {
    const all = this.#current && !this.#names.includes(this.#current) ? [this.#current, ...this.#names] : this.#names
    this.#select.replaceChildren(h('option', { value: '' }, 'All namespaces'), ...all.map((name) => h('option', { value: name }, name)))
    this.#select.value = this.#current
    this.#input.value = this.#current
  }
}
