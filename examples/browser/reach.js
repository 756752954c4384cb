// Asks a server for its collections until it answers. The answer of the last visit is used until then, so that the page is
// useful while the server is away.

import { discover } from './discovery.js'
import { RequestError, messageOf } from './request.js'

/**
 * @import { Resource } from './discovery.js'
 * @import { Link } from './request.js'
 * @import { Standing } from './status.js'
 *
 * @typedef {object} Tell
 * @property {(resources: Resource[]) => void} found
 * @property {(error: RequestError) => void} refused the server answered 401 or 403
 * @property {(state: Standing & { cause: RequestError }) => void} waiting
 * @property {(text: string) => void} unkept the browser stores nothing, with the reason
 */

const KEPT = 'listwatch-collections'
const LONGEST = 30_000 // milliseconds at most between two tries
const SELDOM = 5000 // milliseconds at least between two refreshes that the user did not ask for

export class Reach {
  #tell
  #attempt = 0
  #refreshed = -Infinity // by the page's clock

  /** @param {Tell} tell */
  constructor(tell) {
    this.#tell = tell
  }

  /**
   * Asks until the server answers. A later call replaces an earlier one.
   * @param {Link} link
   */
  async ask(link) {
    const attempt = ++this.#attempt
    const kept = this.#recall(link)
    if (kept) this.#tell.found(kept)
    for (let delay = 1000; await this.#failed(link, attempt, delay); delay = Math.min(2 * delay, LONGEST)) {
      await new Promise((resolve) => setTimeout(resolve, delay))
      if (attempt !== this.#attempt) return
    }
  }

  /**
   * Asks once. Returns whether to ask again after the delay.
   * @param {Link} link
   * @param {number} attempt
   * @param {number} delay
   */
  async #failed(link, attempt, delay) {
    const { resources, error } = await asked(link)
    if (attempt !== this.#attempt) return false
    if (error?.status === 401 || error?.status === 403) this.#tell.refused(error)
    else if (error) this.#tell.waiting({ phase: 'interrupted', stale: true, cause: error, retryAt: Date.now() + delay })
    else this.#found(link, resources)
    return error !== undefined && error.status !== 401 && error.status !== 403
  }

  /**
   * Asks once whether the collections have changed. Resolves with the error if the server does not say.
   * @param {Link} link
   * @param {boolean} [seldom] does nothing soon after another refresh
   */
  async refresh(link, seldom = false) {
    if (seldom && performance.now() - this.#refreshed < SELDOM) return undefined
    this.#refreshed = performance.now()
    const attempt = this.#attempt
    const { resources, error } = await asked(link)
    if (attempt !== this.#attempt) return undefined
    if (resources) this.#found(link, resources)
    return error
  }

  /**
   * @param {Link} link
   * @param {Resource[]} resources
   */
  #found(link, resources) {
    this.#keep(link, resources)
    this.#tell.found(resources)
  }

  /**
   * @param {Link} link
   * @returns {Resource[] | undefined}
   */
  #recall({ server, token }) {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT) ?? 'null')
      return !token && kept?.server === server ? kept.resources : undefined
    } catch (error) { // the browser forbids storage, or something else wrote the value
      this.#tell.unkept(messageOf(error))
      return undefined
    }
  }

  /**
   * Keeps the collections for the next visit. Nothing is kept of a server that requires a token.
   * @param {Link} link
   * @param {Resource[]} resources
   */
  #keep({ server, token }, resources) {
    if (token) return
    try {
      localStorage.setItem(KEPT, JSON.stringify({ server, resources }))
    } catch (error) { // the browser forbids storage, or it is full
      this.#tell.unkept(messageOf(error))
    }
  }
}

/**
 * @param {Link} link
 * @returns {Promise<{ resources: Resource[], error?: undefined } | { resources?: undefined, error: RequestError }>}
 */
async function asked(link) {
  try {
    return { resources: await discover(link) }
  } catch (error) {
    if (error instanceof RequestError) return { error }
    throw error
  }
}
