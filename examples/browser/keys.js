// Handles keyboard shortcuts.

import { $, $of } from './dom.js'

/** @import { Cursor } from './cursor.js' */

const typing = (/** @type {EventTarget | null} */ target) => target instanceof Element && target.matches('input, select, textarea')

/** @param {Cursor} cursor */
export function listen(cursor) {
  const help = $of('help', HTMLDialogElement)
  /** @type {Record<string, () => void>} */
  const inGrid = {
    ArrowDown: () => cursor.move(1), j: () => cursor.move(1), ArrowUp: () => cursor.move(-1), k: () => cursor.move(-1),
    PageDown: () => cursor.page(1), PageUp: () => cursor.page(-1), Home: () => cursor.edge(false), End: () => cursor.edge(true),
    Enter: () => cursor.open(), ' ': () => cursor.open(),
  }
  /** @type {Record<string, () => void>} */
  const anywhere = {
    '/': () => $('search').focus(), g: () => $('goto').focus(), t: () => $('theme').click(), p: () => $('pause').click(),
    o: () => cursor.openTab('overview'), y: () => cursor.openTab('yaml'), e: () => cursor.openTab('events'), c: () => cursor.openTab('changes'),
    '?': () => help.open || help.showModal(),
  }
  for (let n = 1; n <= 9; n++) inGrid[n] = () => cursor.sortBy(n)
  const { dataset } = document.documentElement
  document.addEventListener('pointerdown', () => delete dataset.keyboard)
  document.addEventListener('keydown', (event) => {
    dataset.keyboard = '' // shows the focus ring of the table, which has the focus from the start
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open], :popover-open')) return
    /** @type {(() => void) | undefined | false} */
    let act
    if (key === 'Escape') act = () => cursor.escape()
    else if (target === $('search') && (key === 'ArrowDown' || key === 'Enter')) act = () => { $('grid').focus(); cursor.move(0) }
    else if (typing(target)) return
    else act = ((target === $('grid') || target === document.body) && inGrid[key]) || anywhere[key]
    if (!act) return
    event.preventDefault()
    act()
  })
}
