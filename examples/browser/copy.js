// Copies texts to the clipboard.

import { announce, h, setText } from './dom.js'
import { messageOf } from './request.js'

/** A button that copies a text and then shows the result. */
export class CopyButton {
  #label
  #text

  /**
   * @param {string} label
   * @param {() => string | undefined} text returns the text, or undefined if there is none yet
   */
  constructor(label, text) {
    this.#label = label
    this.#text = text
    this.element = h('button', { class: 'quiet', onclick: () => this.#copy().catch(reportError) }, label)
  }

  /** Clears the result of the last copy. */
  reset() { setText(this.element, this.#label) }

  async #copy() {
    const text = this.#text()
    if (text === undefined) return
    let outcome = 'Copied'
    try {
      if (!navigator.clipboard) throw new Error('the clipboard requires https or localhost')
      await navigator.clipboard.writeText(text)
    } catch (error) {
      outcome = `Not copied: ${messageOf(error)}`
    }
    setText(this.element, outcome)
    announce(outcome)
  }
}
