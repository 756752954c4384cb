// Shows the menu of collections. In a narrow window, the menu opens above the table.

import { $, $of, h, setAttribute } from './dom.js'
import { menu } from './menu.js'
import { notice } from './notices.js'
import { collectionOf, format } from './route.js'
import { restore, save } from './saved.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Route } from './route.js'
 */

const STORAGE_KEY = 'listwatch-collapsed'
const failed = (/** @type {string} */ why) => notice('menu', `The menu forgets its collapsed groups because the browser cannot save them: ${why}`)

/** Shows the collections of a server. Links keep the namespace of `route()`. */
export class Sidebar {
  #route
  #goto = $of('goto', HTMLInputElement)
  /** @type {Set<string>} The names of the groups that the user has collapsed. */
  #collapsed = new Set(restore(STORAGE_KEY, failed))
  #current // the collection that the menu marks
  /** @type {{ link: HTMLAnchorElement, item: HTMLElement, group: HTMLDetailsElement, resource: Resource, words: string }[]} */
  #links = []

  /** @param {() => Route} route */
  constructor(route) {
    this.#route = route
    this.#current = collectionOf(route())
    this.#goto.addEventListener('focus', () => this.#openMenu(true))
    this.#goto.addEventListener('input', () => this.#filter())
    this.#goto.addEventListener('keydown', (event) => {
      const first = this.#links.find(({ link }) => !link.hidden)
      if (event.key === 'Enter' && first) first.link.click()
      if (event.key === 'Escape') event.stopPropagation() // keys.js would also close the details pane
      if (event.key === 'Enter' || event.key === 'Escape') this.#leave()
    })
    $('menu').addEventListener('click', () => this.#openMenu($('menu').getAttribute('aria-expanded') !== 'true'))
  }

  // Clears the filter, closes the menu and focuses the table.
  #leave() {
    this.#goto.value = ''
    this.#filter()
    this.#openMenu(false)
    $('grid').focus()
  }

  /**
   * Opens or closes the menu of a narrow window. In a wide window, the menu is always visible.
   * @param {boolean} open
   */
  #openMenu(open) {
    setAttribute($('menu'), 'aria-expanded', String(open))
    $('sidebar').classList.toggle('open', open)
  }

  /** @param {Resource[]} resources */
  show(resources) {
    this.#links = []
    $('collections').replaceChildren(...menu(resources).map(({ name, members }) => {
      const list = h('ul')
      const group = h('details', { open: !this.#collapsed.has(name) }, h('summary', {}, h('h2', {}, name)), list)
      group.addEventListener('toggle', () => this.#remember(name, group.open))
      list.append(...members.map(({ resource, suffix }) => this.#item(resource, suffix, group)))
      return group
    }))
    this.mark()
  }

  /**
   * Saves whether the user has collapsed a group. It ignores groups that the filter has expanded.
   * @param {string} name
   * @param {boolean} open
   */
  #remember(name, open) {
    if (this.#goto.value || open === !this.#collapsed.has(name)) return
    if (open) this.#collapsed.delete(name)
    else this.#collapsed.add(name)
    save(STORAGE_KEY, [...this.#collapsed], failed)
  }

  /**
   * @param {Resource} resource
   * @param {string} suffix
   * @param {HTMLDetailsElement} group
   */
  #item(resource, suffix, group) {
    const link = h('a', { href: '#', title: collectionOf(resource) }, resource.plural, ...suffix ? [' ', h('span', { class: 'group' }, suffix)] : [])
    link.addEventListener('click', () => { // the namespace may have changed since the link was drawn
      link.href = format({ ...resource, namespace: resource.namespaced ? this.#route().namespace : '' })
      this.#openMenu(false)
    })
    link.href = format({ ...resource, namespace: '' })
    const item = h('li', {}, link)
    this.#links.push({ link, item, group, resource, words: [resource.plural, resource.kind, ...resource.shortNames].join(' ').toLowerCase() })
    return item
  }

  /** Marks the current collection. If it has changed, expands its group. */
  mark() {
    const here = collectionOf(this.#route()), changed = here !== this.#current
    this.#current = here
    for (const { link, group, resource } of this.#links) {
      const current = collectionOf(resource) === here
      setAttribute(link, 'aria-current', current ? 'page' : undefined)
      if (!current) continue
      group.open ||= changed
      link.scrollIntoView({ block: 'nearest' })
    }
  }

  #filter() {
    const needle = this.#goto.value.trim().toLowerCase()
    for (const { link, item, words } of this.#links) item.hidden = link.hidden = !words.includes(needle)
    for (const group of new Set(this.#links.map((one) => one.group))) {
      group.hidden = this.#links.every((one) => one.group !== group || one.link.hidden)
      group.open = !!needle || !this.#collapsed.has(group.querySelector('h2')?.textContent ?? '')
    }
  }
}
