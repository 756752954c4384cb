// Shows one of several panels. A row of tabs selects the panel.

import { h, setAttribute } from './dom.js'

/** @typedef {{ id: string, title: string, content: HTMLElement }} Tab */

export class Tabs {
  #choose
  /** @type {{ id: string, tab: HTMLElement, panel: HTMLElement }[]} */
  #all

  /**
   * @param {string} label of the tabs, for screen readers
   * @param {Tab[]} tabs
   * @param {(id: string) => void} choose called when the user selects a tab; must call `show`
   */
  constructor(label, tabs, choose) {
    this.#choose = choose
    this.#all = tabs.map(({ id, title, content }) => ({
      id,
      tab: h('button', { role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => choose(id) }, title),
      panel: h('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, tabindex: 0, class: 'panel' }, content),
    }))
    const list = h('div', { role: 'tablist', 'aria-label': label, class: 'tabs' }, ...this.#all.map(({ tab }) => tab))
    list.addEventListener('keydown', (event) => this.#move(event))
    this.elements = [list, ...this.#all.map(({ panel }) => panel)]
  }

  /**
   * Shows a panel: the first one if the id is unknown. Returns the id of the panel.
   * @param {string} id
   */
  show(id) {
    const shown = this.#all.find((one) => one.id === id) ?? this.#all[0]
    for (const one of this.#all) {
      const selected = one === shown
      setAttribute(one.tab, 'aria-selected', String(selected))
      setAttribute(one.tab, 'tabindex', selected ? 0 : -1)
      one.panel.hidden = !selected
    }
    return shown.id
  }

  // Moves between the tabs with the keyboard, as screen reader users expect. Only the selected tab is in the tab order.
  /** @param {KeyboardEvent} event */
  #move(event) {
    const at = this.#all.findIndex(({ tab }) => tab === event.target), last = this.#all.length - 1
    const to = { ArrowLeft: at ? at - 1 : last, ArrowRight: at < last ? at + 1 : 0, Home: 0, End: last }[event.key]
    if (to === undefined) return
    event.preventDefault()
    this.#all[to].tab.focus()
    this.#choose(this.#all[to].id)
  }
}
