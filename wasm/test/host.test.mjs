// Tests collections that fail or are closed before the engine starts them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Host } from '../host.js'
import { specOf } from '../spec.js'
import { until } from './support.mjs'

const turns = () => new Promise(setImmediate)
const { spec } = specOf({ server: 'http://host', resource: 'pods', persist: true, headers: { 'X-A': 'b' } })

// Simulates Web Locks and an IndexedDB that opens when a test allows it.
const held = new Set()
const locks = {
  request: async (name, _, given) => {
    held.add(name)
    await given()
    held.delete(name)
  },
}
Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
globalThis.IDBKeyRange = { bound() {} }
const opening = {}
globalThis.indexedDB = { open: () => opening }
const empty = { transaction: () => ({ objectStore: () => ({ get: result, getAll: result }) }) }
function result() {
  const request = {}
  queueMicrotask(() => request.onsuccess())
  return request
}

test('a collection that is closed while its saved state loads never starts, and releases the lock', async () => {
  const started = []
  const end = new Host({ start: (spec) => started.push(spec), stop() {} }).open(spec, { records() {}, failed() {} })
  await until(() => opening.onsuccess)
  end()
  Object.assign(opening, { result: empty }).onsuccess()
  await turns()
  await turns()
  assert.deepEqual(started, [])
  assert.deepEqual([...held], [])
  const other = new Host({ start: (spec) => started.push(spec), stop() {} }).open(spec, { records() {}, failed() {} })
  await until(() => started.length)
  assert.equal(held.size, 1, 'the next collection must hold the lock')
  other()
  await turns()
  assert.deepEqual([...held], [])
})

test('an engine error when a collection starts is reported once and releases the lock', async () => {
  const failures = []
  const engine = { start() { throw new TypeError('no command') }, stop() {} }
  new Host(engine).open(spec, { records() {}, failed: (error) => failures.push(error) })
  await until(() => failures.length)
  await turns()
  assert.deepEqual(failures.map(({ name, code }) => [name, code]), [['ListWatchError', 'crashed']])
  assert.match(failures[0].message, /could not be opened: no command/)
  assert.deepEqual([...held], [])
})

test('an unknown resource stops the collection', async () => {
  const failures = []
  new Host({ start() {}, stop() {} }).open(specOf({ server: 'http://host', resource: 'pod' }).spec, { records() {}, failed: (error) => failures.push(error) })
  await until(() => failures.length)
  assert.deepEqual([failures[0].code, failures[0].message], ['invalid', 'listwatch: unknown resource pod: use "pods", or add its group and version, for example "apps/v1/deployments"'])
})

test('a failure stops the collection and releases the lock, and later records are dropped', async () => {
  const failures = [], records = []
  let sink
  const end = new Host({ start: (_, given) => { sink = given }, stop() {} }).open(spec, { records: (bytes) => records.push(bytes), failed: (error) => failures.push(error) })
  await until(() => sink)
  sink.failed(new Error('a crash'))
  sink.failed(new Error('another crash'))
  sink.records(new Uint8Array(0))
  await turns()
  assert.deepEqual([failures.map(({ message }) => message), records, [...held]], [['a crash'], [], []])
  end()
})

// Opens and closes a collection. Returns the spec and the sink that the engine has received.
async function started(options, client = {}) {
  let given
  const end = new Host({ start: (spec, sink) => { given = { spec, sink } }, stop() {} }).open(specOf({ server: 'http://host', resource: 'pods', ...options }).spec, { records() {}, failed() {}, ...client })
  await until(() => given)
  end()
  return given
}

test('the engine keeps whole arrays for indexes of array elements', async () => {
  const { spec } = await started({ indexes: { a: 'spec.nodeName', b: 'spec.c[0].image', c: 'x\\.y[12].z' } })
  assert.deepEqual(spec.indexes, ['spec.nodeName', 'spec.c[0].image', 'x\\.y[12].z'])
  assert.deepEqual(spec.needs, ['spec.nodeName', 'spec.c[*].image', 'x\\.y[*].z'])
  assert.equal(spec.restored, false)
})

test('the engine gets the token from the options or the client, and no command contains the token', async () => {
  const fixed = await started({ token: 'jane' })
  assert.equal(fixed.sink.token(), 'jane')
  assert.deepEqual([fixed.spec.token, fixed.spec.asks, fixed.spec.persist], [undefined, undefined, undefined])
  assert.equal((await started({ token: () => '' }, { token: () => 'ann' })).sink.token(), 'ann')
  assert.equal((await started({ token: () => '' })).sink.token(), '')
  assert.equal((await started({})).sink.token, undefined)
})
