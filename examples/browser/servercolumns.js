// Provides the columns that a server defines. They are saved, so that a reload during an outage shows the same columns.

import { printedOf, requestColumns } from './columns/printer.js'
import { maySave } from './request.js'
import { restore, save } from './saved.js'

/**
 * @import { Answer, Printed } from './columns/printer.js'
 * @import { Resource } from './discovery.js'
 * @import { Link } from './request.js'
 */

const STORAGE_KEY = 'listwatch-columns'
const MOST = 20 // the maximum number of saved collections
const WAIT = 1000 // milliseconds to wait for the server before the saved columns are used

export class ServerColumns {
  #link
  #failed
  /** @type {Map<string, { printed?: Printed, saved: boolean }>} The columns by collection, and whether they are from the last visit. */
  #known = new Map()

  /**
   * @param {Link} link
   * @param {(reason: string) => void} failed called if the browser cannot save the columns
   */
  constructor(link, failed) {
    this.#link = link
    this.#failed = failed
  }

  /**
   * Returns the columns of a collection, or undefined if the server defines none. If the server does not answer, returns
   * the columns of the last visit.
   * @param {Resource} resource
   * @param {string} namespace the namespace that the page shows, or ""
   */
  async of(resource, namespace) {
    const path = [resource.group, resource.version, resource.plural, namespace].join('/'), known = this.#known.get(path)
    if (known && !known.saved) return known.printed // saved columns are only a substitute, so the server is asked again
    const saved = this.#restore()[path]
    const asked = this.#request(resource, namespace, path).catch(reportError)
    await (saved ? Promise.race([asked, new Promise((resolve) => setTimeout(resolve, WAIT))]) : asked)
    if (saved && !this.#known.has(path)) this.#keep(path, resource, saved, true)
    return this.#known.get(path)?.printed
  }

  /**
   * @param {Resource} resource
   * @param {string} namespace
   * @param {string} path
   */
  async #request(resource, namespace, path) {
    const answer = await requestColumns(this.#link, resource, namespace)
    if (!answer) return
    this.#keep(path, resource, answer, false)
    this.save()
  }

  /**
   * @param {string} path
   * @param {Resource} resource
   * @param {Answer} answer
   * @param {boolean} saved whether the answer is from the last visit
   */
  #keep(path, resource, answer, saved) {
    this.#known.set(path, { printed: printedOf(this.#link, resource, answer), saved })
  }

  /** @returns {Record<string, Answer>} */
  #restore() {
    const saved = restore(STORAGE_KEY, this.#failed)
    return maySave(this.#link) && saved?.server === this.#link.server ? saved.columns : {}
  }

  /** Saves the columns and their current cells for the next visit. */
  save() {
    if (!maySave(this.#link) || !this.#known.size) return
    const columns = this.#restore()
    for (const [path, { printed }] of this.#known) {
      delete columns[path] // moves path to the end, which slice keeps
      columns[path] = { definitions: printed?.definitions ?? [], rows: printed?.cells?.rows }
    }
    save(STORAGE_KEY, { server: this.#link.server, columns: Object.fromEntries(Object.entries(columns).slice(-MOST)) }, this.#failed)
  }
}
