// Highlights changed rows and cells for a moment. A colored edge stays longer, even if the user prefers reduced motion.

import { setAttribute } from './dom.js'

/** @import { Mark } from './row.js' */

const COLORS = { added: 'var(--added)', modified: 'var(--modified)', deleted: 'var(--deleted)' }
const ROW = 1600, CELL = 3200 // durations in milliseconds
const still = matchMedia('(prefers-reduced-motion: reduce)')

export class Flash {
  #element
  /** @type {Animation[]} */
  #running = []

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element
  }

  /**
   * Shows the mark of a row. The element may have shown another row before.
   * @param {Mark | undefined} mark
   * @param {number} now in milliseconds
   */
  show(mark, now) {
    for (const animation of this.#running) animation.cancel()
    this.#running = []
    setAttribute(this.#element, 'data-mark', mark?.type)
    if (!mark || still.matches) return
    const elapsed = now - mark.at
    const { children } = this.#element
    if (mark.type !== 'modified' || !mark.cells.length) this.#light(this.#element, COLORS[mark.type], ROW, elapsed)
    for (const c of mark.cells) this.#light(children[c], COLORS.modified, CELL, elapsed)
  }

  /**
   * @param {Element} element
   * @param {string} color
   * @param {number} duration
   * @param {number} elapsed
   */
  #light(element, color, duration, elapsed) {
    if (elapsed >= duration) return
    const fade = element.animate([{ backgroundColor: color }, { backgroundColor: 'transparent' }], { duration, delay: -elapsed, easing: 'ease-in' })
    this.#running.push(fade)
  }
}
