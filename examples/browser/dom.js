// The few lines that stand in for a framework.

export const $ = (id) => document.getElementById(id)

/** Makes an element: h('a', { href, class: 'x' }, 'text', anotherElement). Text stays text; nothing is read as HTML. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== undefined && value !== false) element.setAttribute(name, value)
  }
  element.append(...children.filter((child) => child !== undefined && child !== false && child !== ''))
  return element
}

/** Writes the text of an element that has nothing else: only what differs, and into the node that is there. */
export function setText(element, text) {
  const node = element.firstChild
  if (!node) element.append(text)
  else if (node.data !== text) node.data = text
}

export function setAttribute(element, name, value) {
  if (value === undefined || value === false) element.removeAttribute(name)
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value)
}

let last = 0, waiting
/** Tells screen readers, at most every three seconds; what is said meanwhile gives way to what is newer. */
export function announce(text) {
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    last = Date.now()
    $('announcer').textContent = text
  }, Math.max(250, last + 3000 - Date.now()))
}

/** Takes back what was told, and what was to be. */
export function hush() {
  clearTimeout(waiting)
  $('announcer').textContent = ''
}
