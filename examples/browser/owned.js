// Shows the objects that a controller owns, such as the ReplicaSets and the Pods of a Deployment.

import { columnsOf } from './columns/index.js'
import { since } from './columns/format.js'
import { h } from './dom.js'
import { OWNED } from './links.js'
import { format } from './route.js'
import { explain } from './status.js'

/**
 * @import { Item } from './listwatch/index.js'
 * @import { Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 * @import { Found } from './events.js'
 *
 * @typedef {{ resource: Resource, found: Found }} Listed The objects of a collection that may be owned.
 */

const MOST = 30 // the maximum number of listed objects per collection
const SHOWN = ['ready', 'status', 'restarts'] // the columns that the list shows next to the name

/**
 * Returns the collections of the objects that a controller of this kind owns, directly or through another controller.
 * @param {string} kind
 * @param {Resource[]} resources all collections of the server
 */
export function ownedBy(kind, resources) {
  const kinds = []
  for (let next = OWNED[kind]; next; next = OWNED[next]) kinds.push(next)
  // These are the groups of the built-in kinds, because a custom resource may have the same kind.
  return kinds.flatMap((one) => resources.find((r) => r.kind === one && ['', 'apps', 'batch'].includes(r.group)) ?? [])
}

/**
 * Returns the label selector of a controller in the syntax of the API, or undefined if the object is incomplete.
 * @param {Kube} object
 */
export function selectorOf({ spec }) {
  const { matchLabels, matchExpressions = [], ...plain } = spec?.selector ?? {} // a ReplicationController's selector consists of the labels themselves
  const pairs = Object.entries({ ...plain, ...matchLabels })
  if (!matchLabels && !pairs.length && !matchExpressions.length) return undefined
  const labels = pairs.map(([name, value]) => `${name}=${value}`)
  return [...labels, ...matchExpressions.map((/** @type {Kube} */ { key, operator, values = [] }) => {
    const list = `(${values.join(',')})`
    return /** @type {Record<string, string>} */ ({ In: `${key} in ${list}`, NotIn: `${key} notin ${list}`, Exists: key, DoesNotExist: `!${key}` })[operator]
  })].join(',')
}

/**
 * Returns the objects of each collection that an object owns, directly or through another of these objects.
 * @param {string} kind
 * @param {string} name
 * @param {Listed[]} listed in the order of `ownedBy`
 */
export function owned(kind, name, listed) {
  const owners = new Set([`${kind}/${name}`])
  return listed.map(({ resource, found }) => {
    const items = found.items.filter(({ object }) => object.metadata.ownerReferences?.some((/** @type {Kube} */ ref) => owners.has(`${ref.kind}/${ref.name}`)))
    for (const item of items) owners.add(`${resource.kind}/${item.name}`)
    return { resource, found, items: [...items].sort((a, b) => born(b) - born(a)) }
  })
}

/** @param {Item<Kube>} item */
const born = ({ object }) => since(object.metadata.creationTimestamp) || 0

export class OwnedList {
  element = h('div', { class: 'owned' })
  /** @type {unknown[]} The arguments of the last call of `show`. */
  #shown = []

  /**
   * @param {string} kind
   * @param {Pick<Item, 'name' | 'namespace'>} item
   * @param {Listed[]} listed the same array until the objects change
   * @param {string} chosen the namespace that the page shows, or ""
   */
  show(kind, { name, namespace }, listed, chosen) {
    const state = [kind, name, namespace, listed, chosen]
    if (state.every((part, i) => part === this.#shown[i])) return
    this.#shown = state
    this.element.replaceChildren(...owned(kind, name, listed).flatMap(({ resource, found, items }) => {
      const { short, long } = explain(found.cause)
      const text = short ? `${short}: ${long}` : items.length ? '' : found.listed ? 'None' : 'Loading'
      const columns = columnsOf(resource, namespace).filter(({ id }) => SHOWN.includes(id))
      return [h('h4', {}, `${resource.kind}s`, ` ${items.length || ''}`), text && h('p', { class: 'none' }, text),
        h('ul', { class: 'changes', hidden: !items.length }, ...items.slice(0, MOST).map(({ key, name, object }) => h('li', { class: 'summary' },
          h('a', { href: format({ ...resource, namespace: chosen && namespace, selected: key }) }, name),
          ...columns.map((column) => {
            const value = column.text?.(object) ?? ''
            return h('span', { class: column.dot && 'dotted', 'data-tone': column.tone?.(object, value) }, column.id === 'restarts' ? `${value} restarts` : value)
          }))), items.length > MOST && h('li', { class: 'none' }, `and ${items.length - MOST} more`))]
    }).filter((part) => !!part))
  }
}
