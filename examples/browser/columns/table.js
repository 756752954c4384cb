// Keeps the cells that the server computes for the rows of a collection. Reading a cell of a changed object requests
// the object's Table. An age in a cell stays constant until the object changes.

import { RequestError, get } from '../request.js'

/**
 * @import { Link } from '../request.js'
 * @import { Kube } from './format.js'
 *
 * @typedef {{ cells: any[], object: Kube }} TableRow
 */

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const MOST_PENDING = 100 // the maximum number of waiting requests; the oldest ones are dropped

/** @param {Kube} object */
const keyOf = ({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name)

export class TableCells {
  /** @type {Map<string, { version: string, cells: any[] }>} The last known cells by object key. */
  #known = new Map()
  /** @type {Map<string, Kube>} The objects with outdated cells, by key. */
  #pending = new Map()
  #busy = false
  #link
  #path
  #plural
  /** @type {(key: string) => void} Called with the key of an object whose cells have arrived. */
  changed = () => undefined

  /**
   * @param {Link} link
   * @param {string} path the path of the API version
   * @param {string} plural
   * @param {TableRow[]} rows the first Table
   */
  constructor(link, path, plural, rows) {
    this.#link = link
    this.#path = path
    this.#plural = plural
    for (const { cells, object } of rows) this.#known.set(keyOf(object), { version: object.metadata.resourceVersion, cells })
  }

  /**
   * Returns a function that reads a cell of an object. It returns the previous value until the cell of a changed object
   * arrives.
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

  // Requests the pending cells one after another. An object that the server no longer has keeps its last cells.
  async #load() {
    this.#busy = true
    for (const [key, object] of this.#pending) { // includes objects added during the loop
      this.#pending.delete(key)
      const { namespace, name, resourceVersion: version } = object.metadata
      if (this.#known.get(key)?.version === version) continue
      const path = [this.#path, ...namespace ? ['namespaces', namespace] : [], this.#plural, encodeURIComponent(name)].join('/')
      const row = await this.#get(path)
      this.#known.set(key, { version, cells: row?.cells ?? this.#known.get(key)?.cells ?? [] })
      this.changed(key)
    }
    this.#busy = false
  }

  /**
   * Returns the row of an object, or undefined if the request fails. The row then keeps its previous cells.
   * @param {string} path
   * @returns {Promise<TableRow | undefined>}
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
