// Shows an object as YAML, marks the fields of its latest change and copies the text.

import { CopyButton } from './copy.js'
import { h } from './dom.js'
import { linesOf, partsOf, toYAML } from './yaml.js'

/** @import { Kube } from './columns/format.js' */

export class YAMLView {
  element = h('pre', { class: 'yaml', tabindex: 0, 'aria-label': 'The object as YAML' })
  button = new CopyButton('Copy YAML', () => this.#object && toYAML(this.#object))
  /** @type {Kube | undefined} */
  #object

  /**
   * @param {Kube} object
   * @param {string[]} changed the paths of the changed fields, joined with "\0", which no field name contains
   * @param {string | undefined} comment text of the first line
   */
  draw(object, changed, comment) {
    this.#object = object
    const isChanged = (/** @type {(string | number)[]} */ at) => {
      const path = at.join('\0')
      return changed.some((c) => path === c || path.startsWith(`${c}\0`))
    }
    const lines = linesOf(object).map((line) => {
      const [indent, key, value] = partsOf(line)
      return h('span', { class: isChanged(line.at) ? 'line changed' : 'line' }, indent, h('span', { class: 'key' }, key), value, '\n')
    })
    if (comment) lines.unshift(h('span', { class: 'line comment' }, `# ${comment}\n`))
    this.element.replaceChildren(...lines)
  }
}
