import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byId, media, reload } from './support/page.js'

const KEY = 'listwatch-theme'
let runs = 0, notices = []
// Runs the script as a page that loads.
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

test('the theme is that of the system, and the button leads through all themes', async () => {
  assert.equal(await load(), 'auto')
  assert.deepEqual(button(), ['◐', 'Theme: as the system has it (t)', 'Theme: as the system has it'])
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

test('the chosen theme is there before the page is drawn', async () => {
  byId('theme').remove()
  localStorage.setItem(KEY, 'dark')
  assert.equal(await load(), 'dark')
  localStorage.setItem(KEY, 'nonsense')
  assert.equal(await load(), 'auto')
})

test('the page hears of a change, also of one of the system', async () => {
  await load()
  let changes = 0
  const listener = () => changes++
  document.addEventListener('themechange', listener)
  click()
  media['(prefers-color-scheme: dark)'].listener()
  document.removeEventListener('themechange', listener)
  assert.equal(changes, 2)
})

test('a browser that stores nothing is reported, and the theme changes all the same', async (t) => {
  const forbidden = { getItem() { throw new Error('forbidden') }, setItem() { throw 'full' } }
  const storage = globalThis.localStorage
  globalThis.localStorage = forbidden
  t.after(() => { globalThis.localStorage = storage })
  assert.equal(await load(), 'auto')
  const text = (why) => ({ kind: 'theme', text: `The theme is for this page only, because this browser stores nothing: ${why}` })
  assert.deepEqual(notices, [text('forbidden')])
  click()
  assert.equal(theme(), 'light')
  assert.deepEqual(notices.slice(1), [text('full')])
})
