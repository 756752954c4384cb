// Shows the events about an object.

import { h, setText } from './dom.js'
import { age, lastSeen } from './columns/format.js'
import { format } from './route.js'
import { explain } from './status.js'

/**
 * @import { Item, ListWatch } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Cause } from './status.js'
 *
 * @typedef {{ items: readonly Item<Kube>[], listed: boolean, cause?: Cause }} Found The events, and the reason why they may be incomplete.
 */

export class EventList {
  element = h('div', { class: 'events' })
  /** @type {Found | undefined} The drawn events. */
  #shown
  /** @type {[HTMLElement, number][]} The elements that show an age, each with its time. */
  #ages = []

  /**
   * Shows events, the newest first.
   * @param {Found} found the same value until the events change
   * @param {number} now in milliseconds
   */
  show(found, now) {
    if (found !== this.#shown) this.#draw(found)
    for (const [element, at] of this.#ages) setText(element, `${age(now - at)} ago`)
  }

  /** @param {Found} found */
  #draw(found) {
    this.#shown = found
    const sorted = found.items.map(({ object, key }) => ({ object, key, at: lastSeen(object) })).sort((a, b) => b.at - a.at)
    this.#ages = sorted.map(({ at }) => [h('span', { class: 'ago' }), at])
    const { short, long } = explain(found.cause)
    const text = short ? `${short}: ${long}` : found.items.length ? '' : found.listed ? 'No events. Servers usually delete them after an hour.' : 'Loading'
    this.element.replaceChildren(...text ? [h('p', { class: 'none' }, text)] : [],
      h('ol', { class: 'changes', hidden: !sorted.length }, ...sorted.map(({ object, key }, i) => eventElement(object, key, this.#ages[i][0]))))
  }
}

/**
 * @param {Kube} event
 * @param {string} key
 * @param {HTMLElement} ago
 */
function eventElement(event, key, ago) {
  const count = event.series?.count ?? event.count ?? 1
  const href = format({ group: '', version: 'v1', plural: 'events', selected: key })
  return h('li', {}, h('div', { class: 'summary' },
    // The colors of added and modified rows also distinguish normal events from warnings.
    h('a', { class: 'type', 'data-type': event.type === 'Normal' ? 'added' : 'modified', href }, event.reason ?? 'Event'),
    h('span', { class: 'paths' }, count > 1 && `${count} times`), ago),
  h('p', { class: 'part' }, event.message ?? event.note ?? ''))
}
