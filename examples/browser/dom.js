// Provides DOM helpers, so that the page needs no framework.

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
 * Returns the element with this id. It must be an instance of the class, for example HTMLInputElement.
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
 * Creates an element: h('a', { href, class: 'x' }, 'text', anotherElement). Strings become text and are never parsed as
 * HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes] functions such as "onclick" become listeners
 * @param {...(Node | string | false | undefined)} children false and undefined are ignored
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
 * Sets the text of an element if it differs. The element must not contain other elements.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const node = element.firstChild
  if (!node) element.append(text)
  else if (node.nodeValue !== text) node.nodeValue = text
}

/**
 * Sets an attribute if it differs; undefined and false remove it.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | false | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined || value === false) element.removeAttribute(name)
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value))
}

let last = 0 // when the last text was announced, in milliseconds
/** @type {number | undefined} the timer of the pending announcement */
let waiting

/**
 * Announces a text to screen readers, at most one text every three seconds. A newer text replaces a pending one.
 * @param {string} text
 */
export function announce(text) {
  clearTimeout(waiting)
  waiting = setTimeout(() => {
    last = Date.now()
    $('announcer').textContent = text
  }, Math.max(250, last + 3000 - Date.now())) // within 250 ms, a newer text can still replace this one
}

/** Clears the last announcement and cancels a pending one. */
export function cancelAnnouncement() {
  clearTimeout(waiting)
  $('announcer').textContent = ''
}
