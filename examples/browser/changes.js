// Shows the changes of an object: which fields differ between its old and new version.

import { age } from './columns/format.js'
import { brief, diff, visibleDifferences } from './diff.js'
import { h, setText } from './dom.js'

/**
 * @import { Kube } from './columns/format.js'
 * @import { Difference } from './diff.js'
 * @import { Entry } from './history.js'
 * @import { Versions } from './versions.js'
 *
 * @typedef {object} Pair The objects before and after a change.
 * @property {Kube} [old]
 * @property {Kube} [object]
 * @property {boolean} [complete] whether these are the full objects; false if they will not arrive, undefined if they
 * still may
 * @property {string} [reason] why the full objects are missing
 */

const SHOWN = 30 // the maximum number of listed differences per change

/** @param {string} reason */
export const inPart = (reason) => `Only the fields in the table are shown. The server did not return the rest: ${reason}.`

/**
 * Returns the objects before and after a change. Until the full objects arrive, it returns the partial objects of the
 * table.
 * @param {Entry} entry
 * @param {Versions | undefined} versions
 * @returns {Pair}
 */
export function objectsOf({ change, before, after }, versions) {
  if (change.type !== 'modified') return { complete: true }
  const { old, object, item } = change
  if (!versions) return { old, object, complete: true }
  const now = versions.at(item.resourceVersion, { asOf: after })
  const then = versions.at(old?.metadata.resourceVersion, { asOf: before })
  if (now?.object && then?.object) return { old: then.object, object: now.object, complete: true }
  const reason = now?.reason ?? then?.reason
  return { old, object, complete: reason ? false : undefined, reason }
}

/** Shows the list of changes. */
export class ChangeList {
  element = h('ol', { class: 'changes' })
  #none = h('li', { class: 'none' }, 'No changes since this page was opened.')
  /** @type {WeakMap<Entry, { element: HTMLElement, complete?: boolean }>} */
  #made = new WeakMap()

  /**
   * Shows changes, newest first.
   * @param {Entry[]} entries
   * @param {Versions | undefined} versions
   * @param {number} now
   */
  show(entries, versions, now) {
    const elements = entries.map((entry, i) => {
      const element = this.#elementOf(entry, i === 0, versions)
      const ago = element.querySelector('.ago')
      if (ago) setText(ago, `${age(now - entry.at)} ago`)
      return element
    })
    if (!elements.length) elements.push(this.#none)
    const same = elements.length === this.element.children.length && elements.every((element, i) => element === this.element.children[i])
    if (!same) this.element.replaceChildren(...elements)
  }

  /**
   * Returns the element of a change. The element is recreated when the full objects arrive, and stays open or closed.
   * @param {Entry} entry
   * @param {boolean} open whether a new element is open
   * @param {Versions | undefined} versions
   */
  #elementOf(entry, open, versions) {
    const made = this.#made.get(entry)
    if (made?.complete) return made.element
    const pair = objectsOf(entry, versions)
    if (made && made.complete === pair.complete) return made.element
    const details = made?.element.firstElementChild
    const element = changeElement(entry, pair, details instanceof HTMLDetailsElement ? details.open : open)
    this.#made.set(entry, { element, complete: pair.complete })
    return element
  }
}

const VERBS = { added: 'appeared', modified: 'changed', deleted: 'deleted' }

/**
 * Returns an element that shows a change field by field.
 * @param {Entry} entry
 * @param {Pair} pair
 * @param {boolean} open
 */
export function changeElement({ change, at }, { old, object, complete, reason }, open) {
  const time = new Date(at).toLocaleTimeString([], { hour12: false })
  const found = old && object ? visibleDifferences(diff(old, object)) : []
  // The full objects may still arrive, show no difference, or be unavailable.
  const nothing = complete === undefined ? '…' : complete ? 'no visible field' : 'no field in the table'
  const summary = old ? found.map(({ path }) => path).join(', ') || nothing : change.finalStateUnknown ? 'while disconnected' : ''
  const head = [h('span', { class: 'type', 'data-type': change.type }, VERBS[change.type]), h('span', { class: 'paths' }, summary), h('span', { class: 'ago' }), h('time', {}, time)]
  const part = reason && h('p', { class: 'part' }, inPart(reason))
  if (!found.length) return h('li', {}, h('div', { class: 'summary' }, ...head), part)
  return h('li', {}, h('details', { open }, h('summary', {}, ...head), differences(found), part))
}

/** @param {Difference[]} found */
function differences(found) {
  const rows = found.slice(0, SHOWN).map(({ path, old, now }) => h('div', { class: 'field' }, h('dt', {}, path), h('dd', {}, ...values(old, now))))
  if (found.length > SHOWN) rows.push(h('div', { class: 'field' }, h('dt', {}, `and ${found.length - SHOWN} more`), h('dd', {})))
  return h('dl', {}, ...rows)
}

/**
 * @param {unknown} old
 * @param {unknown} now
 */
function values(old, now) {
  const sign = (/** @type {string} */ text) => h('span', { class: 'arrow', 'aria-hidden': 'true' }, text)
  if (old === undefined) return [sign('+'), h('ins', {}, brief(now))]
  if (now === undefined) return [h('del', {}, brief(old)), h('em', {}, 'removed')]
  return [h('del', {}, brief(old)), sign('→'), h('ins', {}, brief(now))]
}
