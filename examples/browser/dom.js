// The few lines that stand in for a framework.

/**
 * Returns the element of index.html with this id.
 * @param {string} id
 */
export function $(id) {
  const element = document.getElementById(id)
  if (!element) throw new Error(`index.html has no element #${id}`)
  return element
}

/**
 * Returns the element with this id, which must be of this class, for example HTMLInputElement.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 */
export function $of(id, kind) {
  const element = $(id)
  if (!(element instanceof kind)) throw new Error(`#${id} is not an ${kind.name}`)
  return element
}

/**
 * Makes an element: h('a', { href, class: 'x' }, 'text', anotherElement). Text stays text; nothing is read as HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes] "onclick" and the like are listeners
 * @param {...(Node | string | false | undefined)} children false and undefined are left out
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value))
    else if (value === true) element.setAttribute(name, '')
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value))
  }
  element.append(...children.flatMap((child) => child || []))
  return element
}

/**
 * Writes the text of an element that has nothing else, if it differs.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const node = element.firstChild
  if (!node) element.append(text)
  else if (node.nodeValue !== text) node.nodeValue = text
}

/**
 * Writes an attribute if it differs; undefined and false remove it.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | false | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined || value === false) element.removeAttribute(name)
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value))
}

let last = 0
/** @type {number | undefined} */
let waiting

/**
 * Tells screen readers, at most once in three seconds. A newer text replaces one that waits.
 * @param {string} text
 */
export function announce(text) {
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    last = Date.now()
    $('announcer').textContent = text
  }, Math.max(250, last + 3000 - Date.now()))
}

/** Removes the last text for screen readers, and one that waits. */
export function cancelAnnouncement() {
  clearTimeout(waiting)
  $('announcer').textContent = ''
}
