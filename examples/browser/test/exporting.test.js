import assert from 'node:assert/strict'
import { test } from 'node:test'
import { created, name, plain } from '../columns/format.js'
import { csvOf, jsonOf } from '../exporting.js'
import { Row } from '../row.js'

const columns = [name, plain('note', 'Note', 100, (o) => o.note), created]
const row = (object) => new Row({ key: object.metadata.name, name: object.metadata.name, namespace: '', resourceVersion: '1', object })

test('CSV quotes cells, contains exact times, and disarms formulas', () => {
  const rows = [row({ metadata: { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' }, note: 'x,"y"\nz' }), row({ metadata: { name: 'b' }, note: '=HYPERLINK("x")' })]
  assert.equal(csvOf(rows, columns), '"Name","Note","Age"\r\n"a","x,""y""\nz","2030-01-01T00:00:00.000Z"\r\n"b","\'=HYPERLINK(""x"")",""\r\n')
})

test('JSON contains the objects', () => {
  const object = { metadata: { name: 'a' }, note: 'ö' }
  assert.deepEqual(JSON.parse(jsonOf([row(object)])), [object])
})
