// Keeps the cells that the server computes for the rows of a collection. Reading a cell of a changed object requests
// the object's Table. A cell of a date column becomes a time, so that the page can update its age.

import { RequestError, get } from '../request.js'
import { since } from './format.js'

/**
 * @import { Link } from '../request.js'
 * @import { Kube } from './format.js'
 *
 * @typedef {{ key: string, version: string, cells: any[] }} TableRow The cells of an object at a resourceVersion.
 */

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const MOST_SAVED = 500 // the maximum number of rows that `rows` returns, because browsers limit the storage of a page
const MOST_PENDING = 100 // the maximum number of waiting requests; the oldest ones are dropped

/** @param {Kube} object */
const keyOf = ({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name)

/** @type {(row: { cells: any[], object: Kube }) => TableRow} Converts a row of the server's Table. */
export const rowOf = ({ cells, object }) => ({ key: keyOf(object), version: object.metadata.resourceVersion, cells })

/** @type {Record<string, number>} */
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, y: 365 * 86_400 }

/**
 * Returns the time in milliseconds that a cell of a date column shows, or NaN. A server's cell contains a timestamp or
 * a rounded age such as "2d3h". A saved cell already contains the time as a number, which is returned unchanged.
 * @param {unknown} cell
 * @param {number} now the time at which the server returned the cell, in milliseconds
 */
export function timeOf(cell, now) {
  if (typeof cell === 'number') return cell
  const text = String(cell)
  if (/^\d{4}-/.test(text)) return since(text)
  const parts = [...text.matchAll(/(\d+)([smhdy])/g)].map(([, n, unit]) => Number(n) * SECONDS[unit])
  return parts.length ? now - 1000 * parts.reduce((sum, n) => sum + n) : NaN
}

export class TableCells {
  /** @type {Map<string, TableRow>} The last known rows by object key. */
  #known = new Map()
  /** @type {Map<string, Kube>} The objects with outdated cells, by key. */
  #pending = new Map()
  #busy = false
  #link
  #path
  #plural
  #dates
  /** @type {(key: string) => void} Called with the key of an object whose cells have arrived. */
  changed = () => undefined

  /**
   * @param {Link} link
   * @param {string} path the path of the API version
   * @param {string} plural
   * @param {{ type: string }[]} definitions
   * @param {TableRow[]} rows the rows of the first Table, or saved rows
   */
  constructor(link, path, plural, definitions, rows) {
    this.#link = link
    this.#path = path
    this.#plural = plural
    this.#dates = definitions.map(({ type }) => type === 'date')
    for (const row of rows) this.#keep(row)
  }

  /** Returns rows to save for the next visit. */
  get rows() { return [...this.#known.values()].slice(-MOST_SAVED) }

  /** @param {TableRow} row */
  #keep({ key, version, cells }) {
    const now = Date.now()
    this.#known.set(key, { key, version, cells: cells.map((cell, i) => (this.#dates[i] ? timeOf(cell, now) : cell)) })
  }

  /**
   * Returns a function that reads a cell of an object, as milliseconds in a date column. It returns the previous value
   * until the cell of a changed object arrives.
   * @param {number} index of the column
   */
  reader(index) {
    return (/** @type {Kube} */ object) => {
      const key = keyOf(object), known = this.#known.get(key)
      if (known?.version !== object.metadata.resourceVersion) this.#request(key, object)
      return known?.cells[index]
    }
  }

  /**
   * @param {string} key
   * @param {Kube} object
   */
  #request(key, object) {
    this.#pending.set(key, object)
    for (const oldest of this.#pending.keys()) if (this.#pending.size > MOST_PENDING) this.#pending.delete(oldest)
    if (!this.#busy) this.#load().catch(reportError)
  }

  // Requests the pending cells one after another. After a failed request, for example because the object was deleted, its
  // row keeps the last cells until the object changes again. Otherwise, each redraw would repeat the request.
  async #load() {
    this.#busy = true
    try {
      for (const [key, object] of this.#pending) { // includes objects added during the loop
        this.#pending.delete(key)
        const { namespace, name, resourceVersion: version } = object.metadata
        if (this.#known.get(key)?.version === version) continue
        const path = [this.#path, ...namespace ? ['namespaces', namespace] : [], this.#plural, encodeURIComponent(name)].join('/')
        const row = await this.#get(path)
        this.#keep({ key, version, cells: row?.cells ?? this.#known.get(key)?.cells ?? [] })
        this.changed(key)
      }
    } finally {
      this.#busy = false
    }
  }

  /**
   * Returns the row of an object, or undefined if the request fails. The row then keeps its previous cells.
   * @param {string} path
   * @returns {Promise<{ cells: any[] } | undefined>}
   */
  async #get(path) {
    try {
      return (await get(this.#link, path, { accept: TABLE })).rows?.[0]
    } catch (error) {
      if (error instanceof RequestError) return undefined
      throw error
    }
  }
}
