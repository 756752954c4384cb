// Loads index.html into a global happy-dom document, for tests of modules that use the DOM.
import { readFileSync } from 'node:fs'
import { Window } from '../../../../wasm/node_modules/happy-dom/lib/index.js'

const html = readFileSync(new URL('../../index.html', import.meta.url), 'utf8')
const body = /<body>(.*)<\/body>/s.exec(html)[1]

export const window = new Window({ url: 'http://page.example/' })

const NAMES = ['document', 'location', 'history', 'localStorage', 'navigator', 'Node', 'Element', 'HTMLElement', 'HTMLInputElement', 'HTMLDialogElement',
  'HTMLCanvasElement', 'HTMLDetailsElement', 'HTMLScriptElement', 'HTMLLinkElement', 'Event', 'CustomEvent', 'KeyboardEvent', 'getComputedStyle']
for (const name of NAMES) Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true })
globalThis.window = globalThis // as in a browser
for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent']) globalThis[name] = window[name].bind(window)
globalThis.devicePixelRatio = 1
globalThis.reportError = (error) => { throw error } // a reported error fails the test

/** Callbacks of all ResizeObservers, which tests call because happy-dom has no layout. */
export const resized = []
globalThis.ResizeObserver = class {
  constructor(callback) { resized.push(callback) }
  observe() { return undefined }
}

/** Simulated media queries by query string. Tests set `matches` and call `listener`. */
export const media = {}
globalThis.matchMedia = (query) => media[query] ??= { matches: false, addEventListener(type, listener) { this.listener = listener } }

window.Element.prototype.animate = () => ({ cancel() { return undefined } }) // happy-dom's own animate() causes an unhandled rejection
window.Element.prototype.scrollIntoView = function () { this.dataset.scrolled = 'true' }

const { addEventListener: listen } = document
const listeners = []
document.addEventListener = (...args) => {
  listeners.push(args)
  listen.apply(document, args)
}

/** Restores the body of index.html and removes the event listeners of the document. */
export function reload() {
  for (const [type, listener] of listeners.splice(0)) document.removeEventListener(type, listener)
  document.body.innerHTML = body
  document.body.className = ''
}
reload()

export const byId = (id) => document.getElementById(id)
export const all = (selector, root = document) => [...root.querySelectorAll(selector)]
export const textOf = (selector, root = document) => root.querySelector(selector)?.textContent
export const texts = (selector, root = document) => all(selector, root).map((element) => element.textContent)

/** Waits until all pending promise callbacks have run. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Dispatches a key press to an element. Returns whether a listener has called preventDefault(). */
export function press(element, key, more) {
  return !element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}

export function type(input, value, event = 'input') {
  input.value = value
  input.dispatchEvent(new Event(event))
}

/** Sets the size of an element, because happy-dom has no layout. */
export function size(element, width, height) {
  Object.defineProperty(element, 'clientWidth', { value: width, configurable: true })
  Object.defineProperty(element, 'clientHeight', { value: height, configurable: true })
}
