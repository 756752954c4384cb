// The keyboard.

import { $ } from './dom.js'

const typing = (element) => element.matches('input, select, textarea')

/** `app` has `move(rows)`, `edge(last)`, `page(direction)`, `open()` and `escape()`. */
export function listen(app) {
  const inGrid = {
    ArrowDown: () => app.move(1), j: () => app.move(1), ArrowUp: () => app.move(-1), k: () => app.move(-1),
    PageDown: () => app.page(1), PageUp: () => app.page(-1), Home: () => app.edge(false), End: () => app.edge(true),
    Enter: () => app.open(), ' ': () => app.open(),
  }
  const anywhere = {
    '/': () => $('search').focus(), g: () => $('goto').focus(), t: () => $('theme').click(),
    '?': () => $('help').open || $('help').showModal(),
  }
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    let act
    if (key === 'Escape') act = () => app.escape()
    else if (target === $('search') && (key === 'ArrowDown' || key === 'Enter')) act = () => { $('grid').focus(); app.move(0) }
    else if (typing(target)) return
    else act = (target === $('grid') && inGrid[key]) || anywhere[key]
    if (!act) return
    event.preventDefault()
    act()
  })
}
