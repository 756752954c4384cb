// The menu of collections.

import { $, h, setAttribute } from './dom.js'
import { menu } from './discovery.js'
import { collectionOf, format } from './place.js'

/** Shows the collections of a server; links keep the namespace of `place()`. */
export class Sidebar {
  #place
  #links = []

  constructor(place) {
    this.#place = place
    $('goto').addEventListener('input', () => this.#filter())
    $('goto').addEventListener('keydown', (event) => {
      const first = this.#links.find(({ link }) => !link.hidden)
      if (event.key === 'Enter' && first) first.link.click()
      if (event.key === 'Escape') event.stopPropagation()
      if (event.key !== 'Enter' && event.key !== 'Escape') return
      $('goto').value = ''
      this.#filter()
      $('grid').focus()
    })
  }

  show(resources) {
    this.#links = []
    $('collections').replaceChildren(...menu(resources).map(({ name, members }, i) => h('section', { 'aria-labelledby': `group-${i}` },
      h('h2', { id: `group-${i}` }, name),
      h('ul', {}, ...members.map((resource) => this.#item(resource, name))))))
    this.mark()
  }

  #item(resource, group) {
    const link = h('a', { href: '#', title: collectionOf(resource) }, resource.plural)
    if (group === 'Kubernetes' && resource.group) link.append(h('span', { class: 'group' }, resource.group.replace(/\.k8s\.io$/, '')))
    link.addEventListener('click', () => { // the namespace may have changed since it was drawn
      link.href = format({ ...resource, namespace: resource.namespaced ? this.#place().namespace : '' })
    })
    link.href = format({ ...resource, namespace: '' })
    this.#links.push({ link, resource, words: [resource.plural, resource.kind, ...resource.shortNames].join(' ').toLowerCase() })
    return h('li', {}, link)
  }

  /** Marks where the page is. */
  mark() {
    const here = collectionOf(this.#place())
    for (const { link, resource } of this.#links) {
      const current = collectionOf(resource) === here
      setAttribute(link, 'aria-current', current && 'page')
      if (current) link.scrollIntoView({ block: 'nearest' })
    }
  }

  #filter() {
    const needle = $('goto').value.trim().toLowerCase()
    for (const { link, words } of this.#links) {
      link.hidden = !words.includes(needle)
      link.parentElement.hidden = link.hidden
    }
    for (const section of $('collections').children) section.hidden = ![...section.querySelectorAll('a')].some((link) => !link.hidden)
  }
}
