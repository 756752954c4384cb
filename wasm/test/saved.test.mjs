// Loads random saved collections. A page must receive all objects of a valid collection, and no objects of a damaged
// collection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Persistence } from '../persist.js'
import { ACTIVITY, SAVED, decode, encodeFields } from '../records.js'
import { specOf } from '../spec.js'
import { rounds } from './random.mjs'

let version, objects // content of the simulated database
const request = (result) => {
  const made = {}
  queueMicrotask(() => made.onsuccess())
  return Object.assign(made, { result })
}
const stores = { objects: { getAll: () => request(objects) }, versions: { get: () => request(version) } }
globalThis.indexedDB = { open: () => request({ transaction: () => ({ objectStore: (name) => stores[name] }) }) }
globalThis.IDBKeyRange = { bound() {} }
const locks = { request: (_, __, given) => Promise.resolve(given()) }
Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })

const wrong = (random) => random.of(undefined, null, 7, {}, [], [['a']], 'text')

test('a damaged saved collection is not loaded', () => rounds(2000, async (random) => {
  const rows = [...new Set(random.some(120, () => `${random.of('', 'shop/')}${random.string()}`))]
    .map((key) => [key, '', random.string(), random.string(), random.string(), random.string(), '{}'])
  version = { version: '7', at: 1700000000000 }
  objects = rows.map((fields) => ({ fields }))
  const damaged = random.below(2) && rows.length
  if (damaged) {
    const row = objects[random.below(objects.length)]
    if (random.below(2)) row.fields = random.of(row.fields.slice(0, random.below(6)), wrong(random))
    else row.fields = row.fields.with(random.below(7), random.of(undefined, null, 7, {}))
  } else if (!random.below(4)) version = wrong(random)
  const saved = await Persistence.open(specOf({ server: 'http://127.0.0.1:1', resource: 'pods', persist: true, indexes: { a: 'b' } }).spec)
  const told = []
  const loaded = await saved.load((bytes) => decode(bytes, (kind, fields) => told.push([kind, ...fields])))
  assert.equal(!!loaded, !damaged && version?.version === '7')
  const wellFormed = (fields) => fields.map((field) => field.toWellFormed())
  assert.deepEqual(told, loaded ? [...rows.map((fields) => [SAVED, ...wellFormed(fields)]), [ACTIVITY, '1700000000000', '7']] : [])
  if (!loaded) return
  const split = (key) => (key.includes('/') ? [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)] : ['', key])
  assert.deepEqual(loaded, encodeFields(['7', ...rows.flatMap(([key, , ...rest]) => [...split(key), ...rest.slice(0, 3)])]))
}))
