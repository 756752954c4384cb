// Loads the collections of a server and retries until it responds. Until then, the page uses the collections of the
// last visit.

import { discover } from './discovery.js'
import { RequestError, maySave } from './request.js'
import { restore, save } from './saved.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Link } from './request.js'
 * @import { Status } from './status.js'
 *
 * @typedef {object} Callbacks
 * @property {(resources: Resource[]) => void} found
 * @property {(error: RequestError) => void} refused receives a 401 or 403 response
 * @property {(state: Status & { cause: RequestError }) => void} waiting
 * @property {(text: string) => void} storageFailed receives the reason
 */

const STORAGE_KEY = 'listwatch-collections'
const MAX_DELAY = 30_000 // the maximum delay between two attempts, in milliseconds
const MIN_INTERVAL = 5000 // the minimum interval between automatic refreshes, in milliseconds

export class Collections {
  #callbacks
  #attempt = 0 // the number of the last call to load; an answer to an earlier call is ignored
  #refreshed = -Infinity // the time of the last refresh, from performance.now()

  /** @param {Callbacks} callbacks */
  constructor(callbacks) {
    this.#callbacks = callbacks
  }

  /**
   * Loads the collections and retries until the server responds. A later call replaces an earlier one.
   * @param {Link} link
   */
  async load(link) {
    const attempt = ++this.#attempt
    const saved = this.#restore(link)
    if (saved) this.#callbacks.found(saved)
    for (let delay = 1000; await this.#attemptFailed(link, attempt, delay); delay = Math.min(2 * delay, MAX_DELAY)) {
      await new Promise((resolve) => setTimeout(resolve, delay))
      if (attempt !== this.#attempt) return
    }
  }

  /**
   * Loads the collections once. Resolves with true if the caller must retry after the delay. After 401 or 403, a retry
   * cannot succeed without another token.
   * @param {Link} link
   * @param {number} attempt
   * @param {number} delay
   */
  async #attemptFailed(link, attempt, delay) {
    const { resources, error } = await tryDiscover(link)
    if (attempt !== this.#attempt) return false
    if (error?.status === 401 || error?.status === 403) this.#callbacks.refused(error)
    else if (error) this.#callbacks.waiting({ phase: 'waiting', cause: error, retryAt: Date.now() + delay })
    else this.#found(link, resources)
    return error !== undefined && error.status !== 401 && error.status !== 403
  }

  /**
   * Loads the collections once. Resolves with the error if the request fails, otherwise with undefined.
   * @param {Link} link
   * @param {boolean} [throttled] whether to do nothing if the last refresh was less than MIN_INTERVAL ago
   */
  async refresh(link, throttled = false) {
    if (throttled && performance.now() - this.#refreshed < MIN_INTERVAL) return undefined
    this.#refreshed = performance.now()
    const attempt = this.#attempt
    const { resources, error } = await tryDiscover(link)
    if (attempt !== this.#attempt) return undefined
    if (resources) this.#found(link, resources)
    return error
  }

  /**
   * @param {Link} link
   * @param {Resource[]} resources
   */
  #found(link, resources) {
    this.#save(link, resources)
    this.#callbacks.found(resources)
  }

  /**
   * @param {Link} link
   * @returns {Resource[] | undefined}
   */
  #restore(link) {
    const saved = restore(STORAGE_KEY, this.#callbacks.storageFailed)
    return maySave(link) && saved?.server === link.server ? saved.resources : undefined
  }

  /**
   * Saves the collections for the next visit.
   * @param {Link} link
   * @param {Resource[]} resources
   */
  #save(link, resources) {
    if (maySave(link)) save(STORAGE_KEY, { server: link.server, resources }, this.#callbacks.storageFailed)
  }
}

/**
 * @param {Link} link
 * @returns {Promise<{ resources: Resource[], error?: undefined } | { resources?: undefined, error: RequestError }>}
 */
async function tryDiscover(link) {
  try {
    return { resources: await discover(link) }
  } catch (error) {
    if (error instanceof RequestError) return { error }
    throw error
  }
}
