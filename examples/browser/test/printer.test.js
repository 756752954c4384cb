import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { columnsOf, hasColumns } from '../columns/index.js'
import { fieldsOf } from '../columns/fields.js'
import { columnsOfServer } from '../columns/printer.js'

const link = { server: 'http://k8s', token: 't' }
const widgets = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true, shortNames: [] }
const roles = { ...widgets, group: '', plural: 'roles', kind: 'Role' }
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'
const object = (name, resourceVersion, more) => ({ metadata: { name, namespace: 'shop', resourceVersion, creationTimestamp: '2030-01-01T00:00:00Z' }, ...more })
const table = (columnDefinitions, ...rows) => ({ kind: 'Table', columnDefinitions, rows })
const settle = async () => { for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve)) }

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

const definition = (additionalPrinterColumns) => ({ spec: { versions: [{ name: 'v1beta1', additionalPrinterColumns: [] }, { name: 'v1', additionalPrinterColumns }] } })

test('a custom resource has the columns of its definition', async () => {
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

test('a collection without a readable definition has the columns of its Table', async () => {
  const first = table([{ name: 'Name', type: 'string' }, { name: 'Users', type: 'integer' }, { name: 'Age', type: 'string' }, { name: 'Status', type: 'string' }],
    { cells: ['a', 3, '1d', 'Ok'], object: object('a', '1') })
  answers['/apis/example.com/v1/widgets?limit=500'] = first
  const { columns: [users, status], fields, cells } = await columnsOfServer(link, widgets, '')
  assert.deepEqual([users.title, status.title, status.dot, fields], ['Users', 'Status', true, []])
  assert.deepEqual(asked.map(([, accept]) => accept), [undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io'])
  assert.deepEqual([users.text(object('a', '1')), users.rank(object('a', '1')), status.text(object('a', '1'))], ['3', 3, 'Ok'])
  assert.equal(asked.length, 2, 'the cells of an unchanged object are not requested again')

  const changed = []
  cells.changed = (key) => changed.push(key)
  const path = '/apis/example.com/v1/namespaces/shop/widgets/a'
  answers[path] = table(null, { cells: ['a', 4, '1d', 'Ok'], object: object('a', '3') })
  assert.equal(users.text(object('a', '2')), '3', 'the previous value stays until the new one arrives')
  status.text(object('a', '2'))
  await settle()
  assert.deepEqual([asked.slice(2).map(([path]) => path), changed, users.text(object('a', '2'))], [[path], ['shop/a'], '4'])
  users.text(object('b', '1'))
  await settle()
  assert.deepEqual([changed, users.text(object('b', '1')), asked.length], [['shop/a', 'shop/b'], '', 4], 'a failed request is not repeated')
})

test('a Table is requested in the selected namespace', async () => {
  await columnsOfServer(link, roles, 'shop')
  assert.deepEqual(asked.map(([path]) => path), ['/api/v1/namespaces/shop/roles?limit=500'])
})

test('a Table replaces a definition with paths that the page cannot evaluate', async () => {
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
