// The selected object: what changed in it lately, field by field, and the whole of it.

import { announce, h, setText } from './dom.js'
import { age } from './columns/format.js'
import { brief, diff, telling } from './diff.js'
import { linesOf, partsOf, toYAML } from './yaml.js'

const SHOWN = 12 // differences of one change, before the rest is folded

export class Detail {
  #element
  #name = h('h3', { id: 'detail-name', tabindex: -1 })
  #kind = h('span', { class: 'kind' })
  #sub = h('p', { class: 'sub' })
  #changes = h('ol', { class: 'changes' })
  #object = h('pre', { class: 'yaml', tabindex: 0, 'aria-label': 'The object as YAML' })
  #made = new WeakMap() // entry → its element
  #shown // the item that is drawn

  constructor(element, close) {
    this.#element = element
    const copy = h('button', { class: 'quiet', onclick: () => this.#copy() }, 'Copy YAML')
    const bye = h('button', { class: 'icon', 'aria-label': 'Close', title: 'Close (Esc)', onclick: close }, '×')
    element.append(
      h('header', {}, h('div', { class: 'titles' }, this.#kind, this.#name, this.#sub), copy, bye),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Details' },
        h('h4', {}, 'Changes'), this.#changes, h('h4', {}, 'Object'), this.#object))
  }

  get open() { return !this.#element.hidden }

  focus() { this.#name.focus({ preventScroll: true }) }

  close() {
    this.#element.hidden = true
    this.#shown = undefined
  }

  /** Shows a row with its history; `resource` is what discovery told of its collection. */
  show(row, history, resource, now) {
    this.#element.hidden = false
    const entries = history.of(row.key)
    setText(this.#kind, resource.kind)
    setText(this.#name, row.item.name)
    const where = row.item.namespace ? `in ${row.item.namespace} · ` : ''
    const gone = row.gone ? `deleted${row.mark?.missed ? ' while nobody watched' : ''} · ` : ''
    setText(this.#sub, `${gone}${where}version ${row.item.resourceVersion}`)
    this.#element.classList.toggle('gone', row.gone)
    this.#list(entries, row, now)
    if (this.#shown === row.item) return
    this.#shown = row.item
    this.#draw(row.item.object, entries[0], resource)
  }

  #list(entries, row, now) {
    const elements = entries.map((entry, i) => {
      let element = this.#made.get(entry)
      if (!element) this.#made.set(entry, element = changeElement(entry, i === 0))
      setText(element.querySelector('.ago'), `${age(now - entry.at)} ago`)
      return element
    })
    if (!elements.length) elements.push(this.#none(row))
    const same = elements.length === this.#changes.children.length && elements.every((element, i) => element === this.#changes.children[i])
    if (!same) this.#changes.replaceChildren(...elements)
  }

  #empty = h('li', { class: 'none' })
  #none() {
    setText(this.#empty, 'Nothing since this page began to watch.')
    return this.#empty
  }

  #draw(object, newest, resource) {
    const changed = newest?.change.type === 'modified' ? telling(diff(newest.change.old, newest.change.object)).map(({ at }) => at.join('\0')) : []
    const marks = (at) => {
      const path = at.join('\0')
      return changed.some((c) => path === c || path.startsWith(`${c}\0`))
    }
    const lines = linesOf(object).map((line) => {
      const [indent, key, value] = partsOf(line)
      return h('span', { class: marks(line.at) ? 'line changed' : 'line' }, indent, h('span', { class: 'key' }, key), value, '\n')
    })
    if (isSecret(resource)) lines.unshift(h('span', { class: 'line comment' }, '# What a Secret holds is left out before it reaches this page.\n'))
    this.#object.replaceChildren(...lines)
  }

  async #copy() {
    if (!this.#shown) return
    await navigator.clipboard.writeText(toYAML(this.#shown.object))
    announce('Copied')
  }
}

export const isSecret = ({ group, plural }) => group === '' && plural === 'secrets'

const VERBS = { added: 'appeared', modified: 'changed', deleted: 'deleted' }

function changeElement({ change, at }, open) {
  const time = new Date(at).toLocaleTimeString([], { hour12: false })
  const found = change.type === 'modified' ? telling(diff(change.old, change.object)) : []
  const summary = change.type === 'modified' ? found.map(({ path }) => path).join(', ') || 'no field' : change.missed ? 'while nobody watched' : ''
  const head = [h('span', { class: 'type', 'data-type': change.type }, VERBS[change.type]), h('span', { class: 'paths' }, summary), h('span', { class: 'ago' }), h('time', {}, time)]
  if (!found.length) return h('li', {}, h('div', { class: 'summary' }, ...head))
  return h('li', {}, h('details', { open }, h('summary', {}, ...head), differences(found)))
}

function differences(found) {
  const rows = found.slice(0, SHOWN).map(({ path, old, now }) => h('div', { class: 'field' },
    h('dt', {}, path),
    h('dd', {}, old === undefined ? '' : h('del', {}, brief(old)), h('span', { class: 'arrow', 'aria-hidden': 'true' }, '→'), now === undefined ? h('em', {}, 'removed') : h('ins', {}, brief(now)))))
  if (found.length > SHOWN) rows.push(h('div', { class: 'field' }, h('dt', {}, `and ${found.length - SHOWN} more`), h('dd', {})))
  return h('dl', {}, ...rows)
}
