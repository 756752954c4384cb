// Shows the most important fields of an object: its cells, its labels and conditions, and links to related objects.

import { h } from './dom.js'
import { created } from './columns/format.js'
import { containerElements } from './containers.js'
import { linksOf } from './links.js'
import { format } from './route.js'

/**
 * @import { Column, Kube } from './columns/format.js'
 * @import { Resource } from './discovery.js'
 *
 * @typedef {object} Place The page that shows an object.
 * @property {Resource} resource the collection of the object
 * @property {Resource[]} resources all collections of the server
 * @property {string} namespace the namespace that the page shows, or ""
 */

const REPEATED = ['name', 'namespace', 'labels'] // the columns whose content the details pane shows elsewhere

/**
 * Returns the elements of the overview.
 * @param {Kube} object
 * @param {Column[]} columns
 * @param {Place} place
 */
export function overview(object, columns, place) {
  const { resource, resources, namespace } = place
  const links = linksOf(object, resource, resources, namespace)
  const cells = columns.filter(({ id, title }) => !REPEATED.includes(id) && !links.some((link) => link.title === title))
  const labels = Object.entries(object.metadata?.labels ?? {})
  const conditions = object.status?.conditions
  const containers = resource.plural === 'pods' && !resource.group ? containerElements(object) : []
  return [
    h('dl', { class: 'facts' },
      ...links.flatMap(({ title, text, href }) => fact(title, href ? h('a', { href }, text) : text)),
      ...cells.flatMap((column) => fact(column === created ? 'Created' : column.title, cellOf(column, object))),
      ...labels.length ? fact('Labels', ...labels.map(([name, value]) => label(name, value, place))) : []),
    ...containers.length ? [h('h4', {}, 'Containers'), h('ul', { class: 'changes containers' }, ...containers)] : [],
    // In custom resources, `conditions` may be any value.
    ...Array.isArray(conditions) && conditions.length ? [h('h4', {}, 'Conditions'), h('dl', { class: 'facts' }, ...conditions.flatMap(condition))] : [],
  ]
}

/**
 * @param {string} title
 * @param {...(Node | string)} values
 */
const fact = (title, ...values) => [h('dt', {}, title), h('dd', {}, ...values)]

/**
 * @param {Column} column
 * @param {Kube} object
 */
function cellOf(column, object) {
  if (column.time) {
    const at = column.time(object)
    return Number.isNaN(at) ? '—' : h('time', {}, (column.rounded ? 'about ' : '') + new Date(at).toLocaleString([], { hour12: false }))
  }
  const text = column.text(object), tone = column.tone?.(object, text)
  return h('span', { 'data-tone': tone, class: column.dot && 'dotted' }, text || '—')
}

/**
 * Returns a link that searches for a label.
 * @param {string} name
 * @param {string} value
 * @param {Place} place
 */
function label(name, value, { resource, namespace }) {
  const pair = `${name}=${value}`
  return h('a', { class: 'label', href: format({ ...resource, namespace, search: pair }) }, pair)
}

/** @param {Kube} condition */
function condition({ type, status, reason, message }) {
  return fact(type, h('span', {}, status), reason && reason !== type ? ` · ${reason}` : '', message ? h('span', { class: 'message' }, message) : '')
}
