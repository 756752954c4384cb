import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { columnsOf, hasColumns } from '../columns/index.js'
import { fieldsOf } from '../columns/fields.js'
import { printedOf, requestColumns } from '../columns/printer.js'
import { timeOf } from '../columns/table.js'

const link = { server: 'http://k8s', token: 't' }
const widgets = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true, shortNames: [] }
const roles = { ...widgets, group: '', plural: 'roles', kind: 'Role' }
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldSelector=metadata.name%3Dwidgets.example.com'
const object = (name, resourceVersion, more) => ({ metadata: { name, namespace: 'shop', resourceVersion, creationTimestamp: '2030-01-01T00:00:00Z' }, ...more })
const table = (columnDefinitions, ...rows) => ({ kind: 'Table', columnDefinitions, rows })
const settle = async () => { for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve)) }

async function columnsOfServer(link, resource, namespace) {
  const answer = await requestColumns(link, resource, namespace)
  return answer && printedOf(link, resource, JSON.parse(JSON.stringify(answer)))
}

let answers, asked
beforeEach(() => {
  answers = {}
  asked = []
})
globalThis.fetch = async (url, { headers }) => {
  const path = url.slice(link.server.length)
  asked.push([path, headers.Accept])
  return path in answers ? Response.json(answers[path]) : Response.json({ message: 'no' }, { status: 404 })
}
globalThis.reportError = (error) => { throw error }

const definition = (additionalPrinterColumns) => ({ items: [{ spec: { versions: [{ name: 'v1beta1', additionalPrinterColumns: [] }, { name: 'v1', additionalPrinterColumns }] } }] })

test('a custom resource is shown with the columns that its definition specifies', async () => {
  answers[CRD] = definition([
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' }, { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 }, { name: 'Renewed', type: 'date', jsonPath: '.status.renewed' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ])
  const printed = await columnsOfServer(link, widgets, '')
  const columns = columnsOf(widgets, '', printed), [, , ready, size, phase, renewed] = columns
  assert.deepEqual(columns.map(({ title }) => title), ['Namespace', 'Name', 'Ready', 'Size', 'Phase', 'Renewed', 'Age'])
  const one = object('a', '1', { spec: { size: 12 }, status: { phase: 'Up', renewed: '2030-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] } })
  assert.deepEqual([ready.text(one), ready.tone(one, 'True'), ready.dot, size.text(one), size.rank(one), size.end, phase.text(one), phase.spare, phase.dot], ['True', 'ok', true, '12', 12, true, 'Up', true, undefined])
  assert.equal(renewed.time(one), Date.parse('2030-01-01T00:00:00Z'))
  assert.deepEqual([size.text({}), renewed.time({}), ready.text({ status: { conditions: [{ type: 'Ready', status: { a: 1 } }] } })], ['', NaN, '{"a":1}'])
  assert.deepEqual(fieldsOf(widgets, printed).slice(-4), ['status.conditions', 'spec.size', 'status.phase', 'status.renewed'])
  assert.deepEqual(asked, [[CRD, undefined]])
})

test('a collection whose definition cannot be read is shown with the columns of its Table', async () => {
  const first = table([{ name: 'Name', type: 'string' }, { name: 'Users', type: 'integer' }, { name: 'Age', type: 'string' }, { name: 'Status', type: 'string' }],
    { cells: ['a', 3, '1d', 'Ok'], object: object('a', '1') })
  answers['/apis/example.com/v1/widgets?limit=500'] = first
  const { columns: [users, status], fields, cells } = await columnsOfServer(link, widgets, '')
  assert.deepEqual([users.title, status.title, status.dot, fields], ['Users', 'Status', true, []])
  assert.deepEqual(asked.map(([, accept]) => accept), [undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io'])
  assert.deepEqual([users.text(object('a', '1')), users.rank(object('a', '1')), status.text(object('a', '1'))], ['3', 3, 'Ok'])
  assert.equal(asked.length, 2, 'the cells of an unchanged object must not be requested again')

  const changed = []
  cells.changed = (key) => changed.push(key)
  const path = '/apis/example.com/v1/namespaces/shop/widgets/a'
  answers[path] = table(null, { cells: ['a', 4, '1d', 'Ok'], object: object('a', '3') })
  assert.equal(users.text(object('a', '2')), '3', 'the previous value must stay until the new value arrives')
  status.text(object('a', '2'))
  await settle()
  assert.deepEqual([asked.slice(2).map(([path]) => path), changed, users.text(object('a', '2'))], [[path], ['shop/a'], '4'])
  users.text(object('b', '1'))
  await settle()
  assert.deepEqual([changed, users.text(object('b', '1')), asked.length], [['shop/a', 'shop/b'], '', 4], 'a failed request must not be repeated')
})

test('ages in a Table\'s date column are converted to times, so that they keep increasing', async (t) => {
  const now = Date.parse('2030-01-02T00:00:00Z'), MINUTE = 60_000
  t.mock.timers.enable({ apis: ['Date'], now })
  const columns = [{ name: 'Name', type: 'string' }, { name: 'Renewed', type: 'date' }, { name: 'Window', type: 'string' }, { name: 'Age', type: 'date' }]
  answers['/apis/example.com/v1/widgets?limit=500'] = table(columns, { cells: ['a', '2d3h', '5m', '1d'], object: object('a', '1') })
  const printed = await columnsOfServer(link, widgets, ''), [renewed, window] = printed.columns
  const [, , , , age] = columnsOf(widgets, '', printed)
  assert.equal(renewed.time(object('a', '1')), now - (2 * 24 + 3) * 60 * MINUTE)
  assert.deepEqual([renewed.rounded, window.text(object('a', '1')), age.time(object('a', '1'))], [true, '5m', Date.parse('2030-01-01T00:00:00Z')])
  t.mock.timers.setTime(now + 10 * MINUTE)
  answers['/apis/example.com/v1/namespaces/shop/widgets/a'] = table(null, { cells: ['a', '3m', '6m', '1d'], object: object('a', '2') })
  renewed.time(object('a', '2'))
  await settle()
  assert.equal(renewed.time(object('a', '2')), now + 7 * MINUTE, 'an age must be relative to the time of its response')
  assert.equal(renewed.time(object('b', '1')), NaN)
})

test('cells are still requested after a response with malformed cells', async (t) => {
  const reported = t.mock.method(globalThis, 'reportError', () => undefined)
  answers['/apis/example.com/v1/widgets?limit=500'] = table([{ name: 'Users', type: 'integer' }], { cells: [3], object: object('a', '1') })
  const { columns: [users] } = await columnsOfServer(link, widgets, '')
  const path = '/apis/example.com/v1/namespaces/shop/widgets/a'
  answers[path] = table([], { cells: 7 })
  users.text(object('a', '2'))
  await settle()
  assert.equal(reported.mock.callCount(), 1)
  answers[path] = table([], { cells: [5] })
  users.text(object('a', '3'))
  await settle()
  assert.equal(users.text(object('a', '3')), '5')
})

test('a cell in a date column can contain a timestamp or an age', () => {
  const now = 10 ** 12, cases = { '5s': 5, '2m30s': 150, '3h20m': 12_000, '5d': 432_000, '1y': 31_536_000, '2001-09-09T01:46:39Z': 1, '<unknown>': NaN, '': NaN, undefined: NaN }
  for (const [cell, seconds] of Object.entries(cases)) assert.equal(timeOf(cell, now), now - 1000 * seconds, cell)
})

test('a Table is requested in the selected namespace', async () => {
  await columnsOfServer(link, roles, 'shop')
  assert.deepEqual(asked.map(([path]) => path), ['/api/v1/namespaces/shop/roles?limit=500'])
})

test('a Table is used if the page cannot evaluate the paths in a definition', async () => {
  answers[CRD] = definition([{ name: 'Size', type: 'integer', jsonPath: '..size' }])
  answers['/apis/example.com/v1/widgets?limit=500'] = table([{ name: 'Name', type: 'string' }, { name: 'Size', type: 'integer' }])
  const { columns, cells } = await columnsOfServer(link, widgets, '')
  assert.deepEqual([columns.length, cells !== undefined], [1, true])
})

test('if the server defines no columns, the generic columns are used', async () => {
  assert.equal(await columnsOfServer(link, roles, ''), undefined)
  answers[CRD] = definition([{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }])
  assert.equal(await columnsOfServer(link, widgets, ''), undefined)
  assert.deepEqual(columnsOf(roles, '', undefined).map(({ id }) => id), ['namespace', 'name', 'status', 'labels', 'age'])
  assert.deepEqual([hasColumns(roles), hasColumns({ group: '', plural: 'pods' })], [false, true])
})
