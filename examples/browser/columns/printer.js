// Requests the columns that a server defines for a collection. The page evaluates the JSON paths of a
// CustomResourceDefinition. For any other collection, the server computes the cells and returns them in a Table.

import { RequestError, get } from '../request.js'
import { since } from './format.js'
import { parsePath } from './jsonpath.js'
import { TABLE, TableCells } from './table.js'

/**
 * @import { Resource } from '../discovery.js'
 * @import { Link } from '../request.js'
 * @import { Column, Kube } from './format.js'
 *
 * @typedef {{ name: string, type: string, priority?: number, jsonPath?: string }} Definition A column of a CustomResourceDefinition or a Table.
 *
 * @typedef {object} Printed The columns that a server defines, without the name, the namespace and the age.
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
 * Returns the columns of a collection, or undefined if the server defines only a name and an age or does not answer.
 * @param {Link} link
 * @param {Resource} resource
 * @param {string} namespace the namespace that the page shows, or ""
 * @returns {Promise<Printed | undefined>}
 */
export async function columnsOfServer(link, resource, namespace) {
  const printed = (resource.group.includes('.') && await fromDefinition(link, resource)) || await fromTable(link, resource, namespace)
  return printed && printed.columns.length ? printed : undefined
}

/**
 * Returns the columns of the collection's CustomResourceDefinition, or undefined if the user may not read the definition
 * or the page cannot evaluate its paths.
 * @param {Link} link
 * @param {Resource} resource
 * @returns {Promise<Printed | undefined>}
 */
async function fromDefinition(link, { group, version, plural }) {
  const definition = await tryGet(link, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`)
  /** @type {Definition[] | undefined} */
  const all = definition?.spec?.versions?.find((/** @type {Kube} */ { name }) => name === version)?.additionalPrinterColumns
  const shown = all?.filter(({ jsonPath }) => jsonPath !== '.metadata.creationTimestamp')
  const paths = shown?.map(({ jsonPath = '' }) => parsePath(jsonPath)).filter((path) => path !== undefined)
  if (!shown || !paths || paths.length < shown.length) return undefined
  const columns = shown.map((one, i) => columnOf(one, shown, paths[i].first))
  return { columns, fields: paths.map(({ field }) => field) }
}

/**
 * @param {Link} link
 * @param {Resource} resource
 * @param {string} namespace
 * @returns {Promise<Printed | undefined>}
 */
async function fromTable(link, resource, namespace) {
  const path = ['', resource.group ? `apis/${resource.group}` : 'api', resource.version].join('/')
  const table = await tryGet(link, `${path}${namespace && `/namespaces/${namespace}`}/${resource.plural}?limit=500`, TABLE)
  /** @type {Definition[]} */
  const all = table?.columnDefinitions ?? []
  const cells = new TableCells(link, path, resource.plural, table?.rows ?? [])
  const shown = all.filter(({ name }) => !/^(name|age|created at)$/i.test(name))
  return { columns: shown.map((one) => columnOf(one, shown, cells.reader(all.indexOf(one)))), fields: [], cells }
}

/**
 * @param {Definition} definition
 * @param {Definition[]} all the definitions of the collection; the first status column gets a colored dot
 * @param {(object: Kube) => any} value
 * @returns {Column}
 */
function columnOf(definition, all, value) {
  const { name, type, priority = 0 } = definition
  const shared = { id: name.toLowerCase(), title: name, spare: priority > 0 }
  if (type === 'date' && definition.jsonPath) return { ...shared, width: 90, time: (o) => since(value(o)), end: true }
  const text = (/** @type {Kube} */ o) => textOf(value(o))
  if (type === 'integer' || type === 'number') return { ...shared, width: 40 + 8 * name.length, end: true, text, rank: (o) => Number(value(o) ?? NaN) }
  const dot = definition === all.find((one) => STATUS.test(one.name))
  return { ...shared, width: [Math.max(90, 30 + 8 * name.length), 1], text, ...dot && { dot, tone: toneOf } }
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === 'object' && value ? JSON.stringify(value) : String(value ?? ''))

/**
 * Returns the response, or undefined if the request fails. The failure is not reported, because the columns have a
 * fallback and the watch of the collection reports failures of the server.
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
