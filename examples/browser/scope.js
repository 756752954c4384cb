// Selects a namespace from a list, or in a text field if the namespaces cannot be listed or several are needed.

import { $, h } from './dom.js'
import { namespacesOf } from './route.js'

/** @typedef {(namespaces: string) => void} Choose Receives the namespaces, separated by commas. */

const SEVERAL = ',' // the value of the option for several namespaces; no namespace has this name

export class Scope {
  #choose
  #select = h('select', { 'aria-label': 'Namespace' })
  #input = h('input', { type: 'text', 'aria-label': 'Namespaces, separated by commas', placeholder: 'All namespaces', autocomplete: 'off', spellcheck: 'false' })
  /** @type {string[]} */
  #names = []
  #current = ''
  #listed = true // whether the namespaces can be listed

  /** @param {Choose} choose */
  constructor(choose) {
    this.#choose = choose
    this.#select.addEventListener('change', () => (this.#select.value === SEVERAL ? this.#type() : this.#choose(this.#select.value)))
    this.#input.addEventListener('change', () => {
      this.#choose(namespacesOf(this.#input.value).join())
      this.#draw()
    })
    $('scope').append(this.#select, this.#input)
    this.names([])
  }

  /**
   * Sets the names of the namespaces. If they cannot be listed, `names` is null, and the user types a name.
   * @param {string[] | null} names
   */
  names(names) {
    this.#listed = names !== null
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

  // Replaces the list by the text field, which shows the current namespace.
  #type() {
    this.#select.hidden = true
    this.#input.hidden = false
    this.#input.value = this.#current
    this.#input.focus()
  }

  #draw() {
    const typed = !this.#listed || this.#current.includes(',')
    this.#select.hidden = typed
    this.#input.hidden = !typed
    // The URL may select a namespace that does not exist or has not been listed yet.
    const all = this.#current && !this.#names.includes(this.#current) ? [this.#current, ...this.#names] : this.#names
    this.#select.replaceChildren(h('option', { value: '' }, 'All namespaces'), ...all.map((name) => h('option', { value: name }, name)), h('option', { value: SEVERAL }, 'Several…'))
    this.#select.value = this.#current
    this.#input.value = namespacesOf(this.#current).join(', ')
  }
}
