// Reaching a server: it is asked what it has until it tells. What it told at the last visit is used meanwhile, so that the
// page is of use while the server is away.

import { discover } from './discovery.js'

const KEPT = 'listwatch-collections'
const LONGEST = 30_000, SELDOM = 5000 // milliseconds at most between two tries, and at least between two refreshes

export class Reach {
  #tell
  #attempt = 0
  #asked = -Infinity // when it was refreshed last, by the page's clock

  /** `tell` has `found(resources)`, `refused(error)`, and `waiting(state)` with what a collection's state would be. */
  constructor(tell) {
    this.#tell = tell
  }

  /** Asks; whatever was asked before is given up. `link` is `{ server, token }`. */
  async ask(link) {
    const attempt = ++this.#attempt
    const kept = recall(link)
    if (kept) this.#tell.found(kept)
    for (let delay = 1000; ; delay = Math.min(2 * delay, LONGEST)) {
      const answer = await discover(link).then((resources) => ({ resources }), (error) => ({ error }))
      if (attempt !== this.#attempt) return
      if (answer.resources) {
        keep(link, answer.resources)
        return this.#tell.found(answer.resources)
      }
      const { message, status } = answer.error
      if (status === 401 || status === 403) return this.#tell.refused(answer.error)
      this.#tell.waiting({ phase: 'interrupted', stale: true, cause: { code: 'network', message }, retryAt: Date.now() + delay })
      await new Promise((resolve) => setTimeout(resolve, delay))
      if (attempt !== this.#attempt) return
    }
  }

  /** Asks whether there is something new; where nothing hints at that, `seldom`. Who does not answer is let be. */
  async refresh(link, seldom = false) {
    if (seldom && performance.now() - this.#asked < SELDOM) return
    this.#asked = performance.now()
    const attempt = this.#attempt
    const resources = await discover(link).catch(() => undefined)
    if (!resources || attempt !== this.#attempt) return
    keep(link, resources)
    this.#tell.found(resources)
  }
}

function recall({ server, token }) {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT))
    return !token && kept?.server === server ? kept.resources : undefined
  } catch {
    return undefined // the user forbade it
  }
}

function keep({ server, token }, resources) {
  try {
    if (!token) localStorage.setItem(KEPT, JSON.stringify({ server, resources }))
  } catch { /* then the next visit has to wait for the server */ }
}
