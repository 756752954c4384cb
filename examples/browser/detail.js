// Shows the selected object as YAML, with its recent changes field by field.

import { announce, h, setText } from './dom.js'
import { changeElement, inPart, objectsOf } from './changes.js'
import { age } from './columns/format.js'
import { diff, visibleDifferences } from './diff.js'
import { messageOf } from './request.js'
import { linesOf, partsOf, toYAML } from './yaml.js'

/**
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 * @import { Entry, History } from './history.js'
 * @import { Row } from './row.js'
 * @import { Result, Versions } from './versions.js'
 */

export class Detail {
  #element
  #name = h('h3', { id: 'detail-name', tabindex: -1 })
  #kind = h('span', { class: 'kind' })
  #sub = h('p', { class: 'sub' })
  #changes = h('ol', { class: 'changes' })
  #yaml = h('pre', { class: 'yaml', tabindex: 0, 'aria-label': 'The object as YAML' })
  #copy = h('button', { class: 'quiet', onclick: () => this.#copyText().catch(reportError) }, 'Copy YAML')
  /** @type {WeakMap<Entry, { element: HTMLElement, complete?: boolean }>} */
  #made = new WeakMap()
  /** @type {unknown[] | undefined} The drawn item, object and reason. */
  #shown
  /** @type {Kube | undefined} */
  #object

  /**
   * @param {HTMLElement} element
   * @param {() => void} close
   */
  constructor(element, close) {
    this.#element = element
    const bye = h('button', { class: 'icon', 'aria-label': 'Close', title: 'Close (Esc)', onclick: close }, '×')
    element.append(
      h('header', {}, h('div', { class: 'titles' }, this.#kind, this.#name, this.#sub), this.#copy, bye),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Details' },
        h('h4', {}, 'Changes'), this.#changes, h('h4', {}, 'Object'), this.#yaml))
  }

  get open() { return !this.#element.hidden }

  focus() { this.#name.focus({ preventScroll: true }) }

  close() {
    this.#element.hidden = true
    this.#shown = undefined
  }

  /**
   * Shows a row with its history and its full object. If `versions` is undefined, the table already contains all fields
   * that may be shown.
   * @param {Row} row
   * @param {History} history
   * @param {Versions | undefined} versions
   * @param {Resource} resource
   * @param {number} now
   */
  show(row, history, versions, resource, now) {
    this.#element.hidden = false
    const entries = history.of(row.key)
    setText(this.#kind, resource.kind)
    setText(this.#name, row.item.name)
    const where = row.item.namespace ? `in ${row.item.namespace} · ` : ''
    const gone = row.gone ? `deleted${row.mark?.finalStateUnknown ? ' while disconnected' : ''} · ` : ''
    setText(this.#sub, `${gone}${where}version ${row.item.resourceVersion}`)
    this.#element.classList.toggle('gone', row.gone)
    const latest = latestOf(row, entries[0], versions)
    this.#list(entries, versions, now)
    const state = [row.item, versions?.arrivals, latest?.object, latest?.reason]
    if (this.#shown?.every((part, i) => part === state[i])) return
    if (this.#shown?.[0] !== row.item) setText(this.#copy, 'Copy YAML')
    this.#shown = state
    this.#draw(latest, row.item.object, entries[0], versions, resource)
  }

  /**
   * @param {Entry[]} entries
   * @param {Versions | undefined} versions
   * @param {number} now
   */
  #list(entries, versions, now) {
    const elements = entries.map((entry, i) => {
      const element = this.#elementOf(entry, i === 0, versions)
      const ago = element.querySelector('.ago')
      if (ago) setText(ago, `${age(now - entry.at)} ago`)
      return element
    })
    if (!elements.length) elements.push(this.#none)
    const same = elements.length === this.#changes.children.length && elements.every((element, i) => element === this.#changes.children[i])
    if (!same) this.#changes.replaceChildren(...elements)
  }

  /**
   * Returns the element of a change. The element is recreated when the full objects arrive.
   * @param {Entry} entry
   * @param {boolean} open
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

  #none = h('li', { class: 'none' }, 'No changes since this page was opened.')

  /**
   * Draws the object as YAML. Until the full object arrives, it draws the fields of the table.
   * @param {Result | undefined} latest
   * @param {Kube} part
   * @param {Entry | undefined} newest
   * @param {Versions | undefined} versions
   * @param {Resource} resource
   */
  #draw(latest, part, newest, versions, resource) {
    const { old, object } = newest ? objectsOf(newest, versions) : {}
    const changed = old && object ? visibleDifferences(diff(old, object)).map(({ at }) => at.join('\0')) : []
    const marks = (/** @type {(string | number)[]} */ at) => {
      const path = at.join('\0')
      return changed.some((c) => path === c || path.startsWith(`${c}\0`))
    }
    this.#object = latest?.object ?? part
    const lines = linesOf(this.#object).map((line) => {
      const [indent, key, value] = partsOf(line)
      return h('span', { class: marks(line.at) ? 'line changed' : 'line' }, indent, h('span', { class: 'key' }, key), value, '\n')
    })
    const comment = isSecret(resource) ? 'The values of a Secret are removed before it reaches this page.' : latest?.reason && inPart(latest.reason)
    if (comment) lines.unshift(h('span', { class: 'line comment' }, `# ${comment}\n`))
    this.#yaml.replaceChildren(...lines)
  }

  // Copies the object as YAML. The button shows the result until another object is drawn.
  async #copyText() {
    if (!this.#object) return
    let outcome = 'Copied'
    try {
      if (!navigator.clipboard) throw new Error('the clipboard requires https or localhost')
      await navigator.clipboard.writeText(toYAML(this.#object))
    } catch (error) {
      outcome = `Not copied: ${messageOf(error)}`
    }
    setText(this.#copy, outcome)
    announce(outcome)
  }
}

/** @param {Pick<Resource, 'group' | 'plural'>} resource */
export const isSecret = ({ group, plural }) => group === '' && plural === 'secrets'

/**
 * Returns the latest full object of a row, or undefined until it arrives. If `versions` is undefined, the table already
 * contains all fields that may be shown.
 * @param {Row} row
 * @param {Entry | undefined} newest
 * @param {Versions | undefined} versions
 * @returns {Result | undefined}
 */
function latestOf(row, newest, versions) {
  if (!versions) return { object: row.item.object }
  const asOf = newest && (row.gone ? newest.before : newest.after)
  const answer = versions.at(row.item.resourceVersion, { asOf, current: true })
  return !answer?.object && versions.newest ? { object: versions.newest } : answer
}
