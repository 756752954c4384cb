// Requests and builds the columns that a server defines for a collection. The page evaluates the JSON paths of a
// CustomResourceDefinition. For any other collection, the server computes the cells and returns them in a Table.

import { RequestError, get } from '../request.js'
import { since } from './format.js'
import { parsePath } from './jsonpath.js'
import { TABLE, TableCells, rowOf } from './table.js'

/**
 * @import { Resource } from '../discovery.js'
 * @import { Link } from '../request.js'
 * @import { Column, Kube } from './format.js'
 * @import { TableRow } from './table.js'
 *
 * @typedef {{ name: string, type: string, priority?: number, jsonPath?: string }} Definition A column of a
 * CustomResourceDefinition or a Table.
 *
 * @typedef {{ definitions: Definition[], rows?: TableRow[] }} Answer The columns in a form that can be saved. Only a
 * Table has rows.
 *
 * @typedef {object} Printed The columns that a server defines, without the name, the namespace and the age.
 * @property {Definition[]} definitions
 * @property {Column[]} columns
 * @property {string[]} fields the paths that the columns read
 * @property {TableCells} [cells] the source of the cells, unless the page evaluates paths
 */

const TIMEOUT = 5000 // milliseconds
const STATUS = /^(status|state|phase|ready|health|sync status)$/i
/** @type {Record<string, string>} */
export const TONES = { Ready: 'ok', Available: 'ok', Active: 'ok', Running: 'ok', Bound: 'ok', True: 'ok', Healthy: 'ok', Synced: 'ok', Failed: 'bad', Error: 'bad' }
/** @type {(o: Kube, text: string) => string} */
export const toneOf = (o, text) => TONES[text] ?? (text ? 'warn' : 'dim')

/**
 * Requests the columns of a collection. Returns undefined if the server does not answer.
 * @param {Link} link
 * @param {Resource} resource
 * @param {string} namespace the namespace that the page shows, or ""
 * @returns {Promise<Answer | undefined>}
 */
export async function requestColumns(link, resource, namespace) {
  return (resource.group.includes('.') && await requestDefinition(link, resource)) || await requestTable(link, resource, namespace)
}

/**
 * Returns the columns of the collection's CustomResourceDefinition, or undefined if the user may not read the
 * definition or the page cannot evaluate its paths.
 * @param {Link} link
 * @param {Resource} resource
 * @returns {Promise<Answer | undefined>}
 */
async function requestDefinition(link, { group, version, plural }) {
  // A list, because a missing definition would be an error in the browser's console.
  const list = await tryGet(link, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldSelector=metadata.name%3D${plural}.${group}`)
  /** @type {Definition[] | undefined} */
  const definitions = list?.items?.[0]?.spec?.versions?.find((/** @type {Kube} */ { name }) => name === version)?.additionalPrinterColumns
  return definitions?.every(({ jsonPath = '' }) => parsePath(jsonPath)) ? { definitions } : undefined
}

/** @type {(resource: Resource) => string} Returns the path of the API version of a collection. */
const pathOf = ({ group, version }) => `/${group ? `apis/${group}` : 'api'}/${version}`

/**
 * @param {Link} link
 * @param {Resource} resource
 * @param {string} namespace
 * @returns {Promise<Answer | undefined>}
 */
async function requestTable(link, resource, namespace) {
  const table = await tryGet(link, `${pathOf(resource)}${namespace && `/namespaces/${namespace}`}/${resource.plural}?limit=500`, TABLE)
  return table?.columnDefinitions && { definitions: table.columnDefinitions, rows: (table.rows ?? []).map(rowOf) }
}

/**
 * Returns the columns of an answer, or undefined if it contains only a name and an age.
 * @param {Link} link
 * @param {Resource} resource
 * @param {Answer} answer
 * @returns {Printed | undefined}
 */
export function printedOf(link, resource, { definitions, rows }) {
  const printed = rows ? fromTable(definitions, new TableCells(link, pathOf(resource), resource.plural, definitions, rows)) : fromPaths(definitions)
  return printed.columns.length ? { definitions, ...printed } : undefined
}

/** @param {Definition[]} definitions */
function fromPaths(definitions) {
  const shown = definitions.filter(({ jsonPath }) => jsonPath !== '.metadata.creationTimestamp')
  const paths = shown.map(({ jsonPath = '' }) => parsePath(jsonPath)).filter((path) => path !== undefined)
  const columns = shown.map((one, i) => columnOf(one, shown, one.type === 'date' ? (o) => since(paths[i].first(o)) : paths[i].first))
  return { columns, fields: paths.map(({ field }) => field) }
}

/**
 * @param {Definition[]} definitions
 * @param {TableCells} cells
 */
function fromTable(definitions, cells) {
  const shown = definitions.filter(({ name }) => !/^(name|age|created at)$/i.test(name))
  return { columns: shown.map((one) => ({ ...columnOf(one, shown, cells.reader(definitions.indexOf(one))), rounded: true })), fields: [], cells }
}

/**
 * @param {Definition} definition
 * @param {Definition[]} all the definitions of the collection; the first status column gets a colored dot
 * @param {(object: Kube) => any} value returns milliseconds for a date column
 * @returns {Column}
 */
function columnOf(definition, all, value) {
  const { name, type, priority = 0 } = definition
  const shared = { id: name.toLowerCase(), title: name, spare: priority > 0 }
  if (type === 'date') return { ...shared, width: Math.max(90, 40 + 8 * name.length), time: (o) => value(o) ?? NaN, end: true }
  const text = (/** @type {Kube} */ o) => textOf(value(o))
  if (type === 'integer' || type === 'number') return { ...shared, width: 40 + 8 * name.length, end: true, text, rank: (o) => Number(value(o) ?? NaN) }
  const dot = definition === all.find((one) => STATUS.test(one.name))
  return { ...shared, width: [Math.max(90, 30 + 8 * name.length), 1], text, ...dot && { dot, tone: toneOf } }
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === 'object' && value ? JSON.stringify(value) : String(value ?? ''))

/**
 * Returns the response, or undefined if the request fails. It does not report the failure, because the page has other
 * columns to show and the collection's watch reports failures of the server.
 * @param {Link} link
 * @param {string} path
 * @param {string} [accept]
 */
async function tryGet(link, path, accept) {
  try {
    return await get(link, path, { accept, signal: AbortSignal.timeout(TIMEOUT) })
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}
