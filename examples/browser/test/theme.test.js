import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, media, reload } from './support/page.js'

const KEY = 'listwatch-theme'
let runs = 0, notices = []
// Runs theme.js as a newly opened page does. Returns the theme that the page has before it is rendered.
async function load() {
  delete document.documentElement.dataset.theme
  await import(`../theme.js?${runs++}`)
  const early = document.documentElement.dataset.theme
  document.dispatchEvent(new Event('DOMContentLoaded'))
  return early
}
const theme = () => document.documentElement.dataset.theme
const click = () => byId('theme').dispatchEvent(new Event('click'))
const button = () => [byId('theme').textContent, byId('theme').title, byId('theme').getAttribute('aria-label')]
beforeEach(() => {
  reload()
  document.addEventListener('notice', ({ detail }) => notices.push(detail))
  localStorage.clear()
  notices = []
})

test('the default theme is the system setting, and the theme button cycles through all themes', async () => {
  assert.equal(await load(), 'auto')
  assert.deepEqual(button(), ['◐', 'Theme: system setting (t)', 'Theme: system setting'])
  click()
  assert.equal(theme(), 'light')
  assert.deepEqual(button(), ['☀', 'Theme: light (t)', 'Theme: light'])
  click()
  assert.equal(theme(), 'dark')
  assert.deepEqual(button(), ['☾', 'Theme: dark (t)', 'Theme: dark'])
  assert.equal(localStorage.getItem(KEY), 'dark')
  click()
  assert.deepEqual([theme(), localStorage.getItem(KEY)], ['auto', 'auto'])
})

test('the saved theme is set before the page is rendered', async () => {
  byId('theme').remove()
  localStorage.setItem(KEY, 'dark')
  assert.equal(await load(), 'dark')
  localStorage.setItem(KEY, 'nonsense')
  assert.equal(await load(), 'auto')
})

test('changes to the theme and to the system setting are reported', async () => {
  await load()
  let changes = 0
  const listener = () => changes++
  document.addEventListener('themechange', listener)
  click()
  media['(prefers-color-scheme: dark)'].listener()
  document.removeEventListener('themechange', listener)
  assert.equal(changes, 2)
})

test('a storage failure is reported, and the theme still changes', async (t) => {
  const forbidden = { getItem() { throw new Error('forbidden') }, setItem() { throw 'full' } }
  const storage = globalThis.localStorage
  globalThis.localStorage = forbidden
  t.after(() => { globalThis.localStorage = storage })
  assert.equal(await load(), 'auto')
  const text = (why) => ({ kind: 'theme', text: `The theme applies only to this page because the browser cannot save it: ${why}` })
  assert.deepEqual(notices, [text('forbidden')])
  click()
  assert.equal(theme(), 'light')
  assert.deepEqual(notices.slice(1), [text('full')])
})
