// The selected object: what changed in it lately, field by field, and the whole of it.

import { announce, h, setText } from './dom.js'
import { age } from './columns/format.js'
import { brief, diff, telling } from './diff.js'
import { linesOf, partsOf, toYAML } from './yaml.js'

const SHOWN = 30 // differences of one change, before the rest is folded

export class Detail {
  #element
  #name = h('h3', { id: 'detail-name', tabindex: -1 })
  #kind = h('span', { class: 'kind' })
  #sub = h('p', { class: 'sub' })
  #changes = h('ol', { class: 'changes' })
  #object = h('pre', { class: 'yaml', tabindex: 0, 'aria-label': 'The object as YAML' })
  #made = new WeakMap() // entry → its element, and whether that tells all
  #shown // the item that is drawn, and how much of it had come
  #text // the object of it

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

  /** Shows a row with its history and the whole of its object, if there is one; `resource` is what discovery told of its collection. */
  show(row, history, whole, resource, now) {
    this.#element.hidden = false
    const entries = history.of(row.key)
    setText(this.#kind, resource.kind)
    setText(this.#name, row.item.name)
    const where = row.item.namespace ? `in ${row.item.namespace} · ` : ''
    const gone = row.gone ? `deleted${row.mark?.missed ? ' while nobody watched' : ''} · ` : ''
    setText(this.#sub, `${gone}${where}version ${row.item.resourceVersion}`)
    this.#element.classList.toggle('gone', row.gone)
    const latest = latestOf(row, entries[0], whole)
    this.#list(entries, row, whole, now)
    const state = [row.item, whole?.arrivals, latest]
    if (this.#shown?.every((part, i) => part === state[i])) return
    this.#shown = state
    this.#draw(latest, row.item.object, entries[0], whole, resource)
  }

  #list(entries, row, whole, now) {
    const elements = entries.map((entry, i) => {
      const element = this.#elementOf(entry, i === 0, whole)
      setText(element.querySelector('.ago'), `${age(now - entry.at)} ago`)
      return element
    })
    if (!elements.length) elements.push(this.#none(row))
    const same = elements.length === this.#changes.children.length && elements.every((element, i) => element === this.#changes.children[i])
    if (!same) this.#changes.replaceChildren(...elements)
  }

  // Made once, and again when the whole objects have come.
  #elementOf(entry, open, whole) {
    const made = this.#made.get(entry)
    if (made?.complete) return made.element
    const { old, object, complete } = objectsOf(entry, whole)
    if (made && made.complete === complete) return made.element
    const element = changeElement(entry, old, object, complete, made?.element.firstElementChild.open ?? open)
    this.#made.set(entry, { element, complete })
    return element
  }

  #empty = h('li', { class: 'none' })
  #none() {
    setText(this.#empty, 'Nothing since this page began to watch.')
    return this.#empty
  }

  // `latest` is the whole object; undefined while it has not come, null if it cannot be had.
  #draw(latest, part, newest, whole, resource) {
    const { old, object } = newest?.change.type === 'modified' ? objectsOf(newest, whole) : {}
    const changed = old ? telling(diff(old, object)).map(({ at }) => at.join('\0')) : []
    const marks = (at) => {
      const path = at.join('\0')
      return changed.some((c) => path === c || path.startsWith(`${c}\0`))
    }
    this.#text = latest ?? part
    const lines = linesOf(this.#text).map((line) => {
      const [indent, key, value] = partsOf(line)
      return h('span', { class: marks(line.at) ? 'line changed' : 'line' }, indent, h('span', { class: 'key' }, key), value, '\n')
    })
    const comment = isSecret(resource) ? 'What a Secret holds is left out before it reaches this page.'
      : latest === null ? 'Only what the table holds: the rest could not be had from the server.' : ''
    if (comment) lines.unshift(h('span', { class: 'line comment' }, `# ${comment}\n`))
    this.#object.replaceChildren(...lines)
  }

  async #copy() {
    if (!this.#shown) return
    await navigator.clipboard.writeText(toYAML(this.#text))
    announce('Copied')
  }
}

export const isSecret = ({ group, plural }) => group === '' && plural === 'secrets'

// The object that a row stands for, whole; see #draw. Of Secrets the part is all there is.
function latestOf(row, newest, whole) {
  if (!whole) return row.item.object
  const { resourceVersion } = row.item
  const asOf = newest && (row.gone ? newest.before : newest.after)
  const exact = whole.at(resourceVersion, { asOf, current: true })
  return exact ?? whole.newest ?? exact
}

// Both objects of a change: whole, where those can be had, else the parts that the table holds.
function objectsOf({ change, before, after }, whole) {
  if (change.type !== 'modified') return { complete: true }
  const { old, object, item } = change
  const wholes = whole && [whole.at(item.resourceVersion, { asOf: after }), whole.at(old.metadata.resourceVersion, { asOf: before })]
  if (wholes?.every(Boolean)) return { old: wholes[1], object: wholes[0], complete: true }
  return { old, object, complete: !whole || (wholes.includes(null) ? false : undefined) }
}

const VERBS = { added: 'appeared', modified: 'changed', deleted: 'deleted' }
const IN_PART = 'Only fields that the table holds are compared: the rest could not be had from the server.'

// `complete` is undefined while the rest may still come, and false when it cannot.
function changeElement({ change, at }, old, object, complete, open) {
  const time = new Date(at).toLocaleTimeString([], { hour12: false })
  const found = old ? telling(diff(old, object)) : []
  const nothing = complete === undefined ? '…' : complete ? 'no field' : 'no field of the table'
  const summary = old ? found.map(({ path }) => path).join(', ') || nothing : change.missed ? 'while nobody watched' : ''
  const head = [h('span', { class: 'type', 'data-type': change.type }, VERBS[change.type]), h('span', { class: 'paths' }, summary), h('span', { class: 'ago' }), h('time', {}, time)]
  if (!found.length) return h('li', {}, h('div', { class: 'summary' }, ...head))
  return h('li', {}, h('details', { open }, h('summary', {}, ...head), differences(found), complete === false && h('p', { class: 'part' }, IN_PART)))
}

function differences(found) {
  const rows = found.slice(0, SHOWN).map(({ path, old, now }) => h('div', { class: 'field' }, h('dt', {}, path), h('dd', {}, ...values(old, now))))
  if (found.length > SHOWN) rows.push(h('div', { class: 'field' }, h('dt', {}, `and ${found.length - SHOWN} more`), h('dd', {})))
  return h('dl', {}, ...rows)
}

function values(old, now) {
  const sign = (text) => h('span', { class: 'arrow', 'aria-hidden': 'true' }, text)
  if (old === undefined) return [sign('+'), h('ins', {}, brief(now))]
  if (now === undefined) return [h('del', {}, brief(old)), h('em', {}, 'removed')]
  return [h('del', {}, brief(old)), sign('→'), h('ins', {}, brief(now))]
}
