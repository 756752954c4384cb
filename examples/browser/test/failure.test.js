import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, reload } from './support/page.js'

// Each test loads failure.js again and calls its event listeners.
let listeners, readyState, runs = 0, reloads
globalThis.addEventListener = (type, listener, capture) => { listeners[type] = { listener, capture } }
Object.defineProperty(document, 'readyState', { get: () => readyState })
Object.defineProperty(globalThis, 'location', { value: { reload: () => reloads++ } })
const loaded = () => { readyState = 'interactive'; document.dispatchEvent(new Event('DOMContentLoaded')) }
const error = (message, target = window) => listeners.error.listener({ target, message })
const shown = () => (byId('failure').hidden ? undefined : byId('failure-text').textContent)
beforeEach(async () => {
  reload()
  listeners = {}
  reloads = 0
  readyState = 'loading'
  await import(`../failure.js?${runs++}`)
})

test('a page without a failure shows no message', () => {
  loaded()
  assert.equal(shown(), undefined)
})

test('a failure before the page has loaded is shown once it has loaded', () => {
  error('too early')
  assert.equal(shown(), undefined)
  loaded()
  assert.equal(shown(), 'too early')
})

test('the last three distinct exceptions and rejections are shown', () => {
  loaded()
  error('first')
  listeners.unhandledrejection.listener({ reason: new Error('second') })
  listeners.unhandledrejection.listener({ reason: 'third' })
  error('second')
  assert.equal(shown(), 'first; second; third')
  error('fourth')
  assert.equal(shown(), 'second; third; fourth')
  listeners.unhandledrejection.listener({ reason: undefined })
  assert.equal(shown(), 'third; fourth; undefined')
})

test('ResizeObserver loop errors and failed images are ignored', () => {
  loaded()
  error('ResizeObserver loop completed with undelivered notifications.')
  error(undefined, document.createElement('img'))
  assert.equal(shown(), undefined)
})

test('scripts and styles that fail to load are named', () => {
  loaded()
  const make = (tag, attributes) => Object.defineProperties(document.createElement(tag), Object.fromEntries(Object.entries(attributes).map(([k, value]) => [k, { value }])))
  error(undefined, make('script', { src: 'http://page.example/app.js' }))
  error(undefined, make('link', { href: 'http://page.example/base.css' }))
  assert.equal(shown(), 'http://page.example/app.js could not be loaded; http://page.example/base.css could not be loaded')
  assert.equal(listeners.error.capture, true, 'the listener must capture, because element errors do not bubble')
})

test('the reload button reloads the page', () => {
  loaded()
  byId('reload').dispatchEvent(new Event('click'))
  assert.equal(reloads, 1)
})
