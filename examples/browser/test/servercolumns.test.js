import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import { turn } from './support/page.js'
import { ServerColumns } from '../servercolumns.js'

const link = { server: 'http://k8s', token: '' }, KEY = 'listwatch-columns'
const widgets = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true, shortNames: [] }
const roles = { ...widgets, group: '', plural: 'roles', kind: 'Role' }
const object = (resourceVersion) => ({ metadata: { name: 'a', namespace: 'shop', resourceVersion } })
const table = (flavor, resourceVersion) => ({ columnDefinitions: [{ name: 'Name', type: 'string' }, { name: 'Flavor', type: 'string' }, { name: 'Renewed', type: 'date' }],
  rows: [{ cells: ['a', flavor, '5m'], object: object(resourceVersion) }] })
const definition = { items: [{ spec: { versions: [{ name: 'v1', additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] }] } }] }
const settle = async () => { for (let i = 0; i < 10; i++) await turn() }

mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10 ** 12 })
globalThis.fetch = async (url) => {
  requests++
  return answer(url)
}
const away = () => { throw new TypeError('away') }
const answerWith = (body) => () => Response.json(body)

let answer, requests, failures
beforeEach(() => {
  localStorage.clear()
  requests = 0
  failures = []
})
const visit = (to = link) => new ServerColumns(to, (reason) => failures.push(reason))
const titles = (printed) => printed?.columns.map(({ title }) => title).join(' ')

test('the columns are requested only once', async () => {
  const columns = visit()
  answer = answerWith(definition)
  const printed = await columns.of(widgets, '')
  assert.equal(titles(printed), 'Size')
  assert.equal(await columns.of(widgets, ''), printed)
  assert.equal(requests, 1)
})

test('the columns from the last visit are used if the server does not respond', async () => {
  answer = answerWith(definition)
  await visit().of(widgets, '')
  const columns = visit()
  answer = away
  const printed = await columns.of(widgets, '')
  assert.deepEqual([titles(printed), printed.fields, printed.columns[0].text({ spec: { size: 3 } })], ['Size', ['spec.size'], '3'])
  answer = answerWith(table('sweet', '1'))
  assert.equal(titles(await columns.of(widgets, '')), 'Flavor Renewed')
})

test('the columns from the last visit are used if the server is slow, and its late response is kept for the next use', async () => {
  answer = answerWith(definition)
  await visit().of(widgets, '')
  const columns = visit()
  let reply
  answer = () => new Promise((resolve) => { reply = resolve })
  const asked = columns.of(widgets, '')
  await settle()
  mock.timers.tick(1000)
  assert.equal(titles(await asked), 'Size')
  definition.items[0].spec.versions[0].additionalPrinterColumns[0].name = 'Weight'
  reply(Response.json(definition))
  await settle()
  assert.equal(titles(await columns.of(widgets, '')), 'Weight')
  definition.items[0].spec.versions[0].additionalPrinterColumns[0].name = 'Size'
})

test('the current cells of a Table are saved with times instead of ages', async () => {
  const began = Date.now()
  answer = answerWith(table('sweet', '1'))
  const before = visit(), [flavor] = (await before.of(roles, 'shop')).columns
  answer = answerWith(table('sour', '2'))
  flavor.text(object('2'))
  await settle()
  before.save()
  mock.timers.tick(60_000)
  answer = away
  const { columns: [saved, renewed] } = await visit().of(roles, 'shop')
  assert.deepEqual([saved.text(object('2')), renewed.time(object('2'))], ['sour', began - 300_000])
})

test('a collection for which the server defines no columns keeps the generic columns', async () => {
  answer = answerWith({ columnDefinitions: [{ name: 'Name', type: 'string' }], rows: [] })
  assert.equal(await visit().of(roles, ''), undefined)
  answer = away
  assert.equal(await visit().of(roles, ''), undefined)
})

test('only columns from the current server are used, and columns from a server that requires a token are not saved', async () => {
  answer = answerWith(definition)
  await visit({ ...link, token: 'secret' }).of(widgets, '')
  assert.equal(localStorage.getItem(KEY), null)
  await visit().of(widgets, '')
  answer = away
  for (const to of [{ ...link, token: 'secret' }, { ...link, server: 'http://other' }]) assert.equal(await visit(to).of(widgets, ''), undefined)
})

test('the columns of only the latest twenty collections are saved', async () => {
  answer = answerWith(definition)
  const columns = visit()
  for (let i = 0; i < 21; i++) await columns.of({ ...widgets, plural: `widgets${i}` }, '')
  const saved = Object.keys(JSON.parse(localStorage.getItem(KEY)).columns)
  assert.deepEqual([saved.length, saved[0]], [20, 'example.com/v1/widgets1/'])
})

test('a storage failure is reported, and the columns are still used', async (t) => {
  const storage = globalThis.localStorage
  globalThis.localStorage = { getItem: () => null, setItem() { throw new Error('no room') } }
  t.after(() => { globalThis.localStorage = storage })
  answer = answerWith(definition)
  assert.equal(titles(await visit().of(widgets, '')), 'Size')
  assert.deepEqual(failures, ['no room'])
})
