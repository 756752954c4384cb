// Selects the rows that contain all searched words and have one of the chosen statuses.

/** @import { Row } from './row.js' */

/**
 * Returns the string that the search text of a row must contain to match a term. In the search text, which row.js builds,
 * each pair such as "app=web" is a line between two line breaks. The term "app=web" matches only this whole line, and
 * "app=" matches the start of a line.
 * @param {string} term
 */
const needleOf = (term) => (!term.includes('=') ? term : term.endsWith('=') ? `\n${term}` : `\n${term}\n`)

export class Filter {
  /** @type {string[]} */
  #needles = []
  /** @type {Set<string>} */
  #statuses = new Set()

  /** Reports whether all rows match, so that their cells are not needed. */
  get empty() { return !this.#needles.length && !this.#statuses.size }

  /**
   * Sets the search text. Rows must contain all its words. A word with "=" must equal a label, the node or an owner, such
   * as "app=web" or "node=n1". If it ends with "=", any value matches.
   * @param {string} text
   */
  search(text) {
    this.#needles = text.toLowerCase().split(/\s+/).filter(Boolean).map(needleOf)
  }

  /**
   * Sets the statuses. An empty list selects all rows.
   * @param {string[]} statuses
   */
  select(statuses) {
    this.#statuses = new Set(statuses)
  }

  /**
   * Reports whether a row matches the search.
   * @param {Row} row
   */
  matches(row) {
    // A row has no words until Rows.read reads it, after which it is matched again. Until then, only its key can match.
    const words = row.words ?? row.key.toLowerCase()
    return this.#needles.every((needle) => words.includes(needle))
  }

  /**
   * Reports whether a row has one of the statuses.
   * @param {Row} row
   */
  selects(row) {
    return !this.#statuses.size || this.#statuses.has(row.status ?? '')
  }
}
