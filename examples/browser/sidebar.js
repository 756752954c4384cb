// Shows the menu of collections.

import { $, $of, h, setAttribute } from './dom.js'
import { menu } from './discovery.js'
import { collectionOf, format } from './route.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Route } from './route.js'
 */

/** Shows the collections of a server. Links keep the namespace of `route()`. */
export class Sidebar {
  #route
  #goto = $of('goto', HTMLInputElement)
  /** @type {{ link: HTMLAnchorElement, item: HTMLElement, resource: Resource, words: string }[]} */
  #links = []

  /** @param {() => Route} route */
  constructor(route) {
    this.#route = route
    this.#goto.addEventListener('input', () => this.#filter())
    this.#goto.addEventListener('keydown', (event) => {
      const first = this.#links.find(({ link }) => !link.hidden)
      if (event.key === 'Enter' && first) first.link.click()
      if (event.key === 'Escape') event.stopPropagation()
      if (event.key !== 'Enter' && event.key !== 'Escape') return
      this.#goto.value = ''
      this.#filter()
      $('grid').focus()
    })
  }

  /** @param {Resource[]} resources */
  show(resources) {
    this.#links = []
    $('collections').replaceChildren(...menu(resources).map(({ name, members }, i) => h('section', { 'aria-labelledby': `group-${i}` },
      h('h2', { id: `group-${i}` }, name),
      h('ul', {}, ...members.map((resource) => this.#item(resource, name))))))
    this.mark()
  }

  /**
   * @param {Resource} resource
   * @param {string} group
   */
  #item(resource, group) {
    const link = h('a', { href: '#', title: collectionOf(resource) }, resource.plural)
    if (group === 'Kubernetes' && resource.group) link.append(h('span', { class: 'group' }, resource.group.replace(/\.k8s\.io$/, '')))
    link.addEventListener('click', () => { // the namespace may have changed since the link was drawn
      link.href = format({ ...resource, namespace: resource.namespaced ? this.#route().namespace : '' })
    })
    link.href = format({ ...resource, namespace: '' })
    const item = h('li', {}, link)
    this.#links.push({ link, item, resource, words: [resource.plural, resource.kind, ...resource.shortNames].join(' ').toLowerCase() })
    return item
  }

  /** Marks the current collection. */
  mark() {
    const here = collectionOf(this.#route())
    for (const { link, resource } of this.#links) {
      const current = collectionOf(resource) === here
      setAttribute(link, 'aria-current', current ? 'page' : undefined)
      if (current) link.scrollIntoView({ block: 'nearest' })
    }
  }

  #filter() {
    const needle = this.#goto.value.trim().toLowerCase()
    for (const { link, item, words } of this.#links) {
      item.hidden = link.hidden = !words.includes(needle)
    }
    for (const section of $('collections').querySelectorAll('section')) section.hidden = ![...section.querySelectorAll('a')].some((link) => !link.hidden)
  }
}
