// Shows notices below the title about parts of the page that do not work. Each kind of notice has at most one line.

import { $, announce, h } from './dom.js'

/** @type {Map<string, HTMLElement>} */
const shown = new Map()
/** @type {Set<string>} */
const dismissed = new Set()

/**
 * Shows a notice of a kind, or removes it if the text is empty. A text that the user has dismissed is not shown again.
 * @param {string} kind
 * @param {string} text
 */
export function notice(kind, text) {
  const old = shown.get(kind)
  if (old?.dataset.text === text) return
  old?.remove()
  shown.delete(kind)
  if (!text || dismissed.has(text)) return
  const dismiss = () => {
    dismissed.add(text)
    notice(kind, '')
  }
  const line = h('li', { 'data-kind': kind, 'data-text': text }, h('span', {}, text),
    h('button', { class: 'icon', 'aria-label': 'Dismiss', title: 'Dismiss', onclick: dismiss }, '×'))
  shown.set(kind, line)
  $('notices').append(line)
  announce(text)
}

document.addEventListener('notice', (event) => { // theme.js is not a module, so it sends this event instead of calling notice()
  if (event instanceof CustomEvent) notice(event.detail.kind, event.detail.text)
})
