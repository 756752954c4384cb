import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as records from '../records.js'

const { concat, decode, encode, encodeFields } = records

function all(bytes) {
  const seen = []
  decode(bytes, (kind, fields) => seen.push([kind, ...fields]))
  return seen
}

test('decode() returns the records that encode() encoded', () => {
  const some = [[1, 'a/b', '', 'ü €𝄞'], [5, '7'], [4], [2, '\uFEFFmark', '{"a":"\\u0000"}', 'x'.repeat(70000)]]
  assert.deepEqual(all(encode(some)), some)
  assert.deepEqual(all(encode([])), [])
})

test('fields with various lengths and characters are decoded', () => {
  const pieces = ['', 'a', 'default/web-0', 'é', '€uro', '𝄞', '\uFEFF', 'x'.repeat(127), 'x'.repeat(128), 'y'.repeat(0xC3), 'é'.repeat(0xE2), 'z'.repeat(50000)]
  for (const one of pieces) {
    for (const two of pieces) {
      const some = [[1, one, two, 'three', '{}'], [3, two, one], [4]]
      assert.deepEqual(all(encode(some)), some)
    }
  }
})

test('records are decoded at any offset of a buffer', () => {
  const bytes = encode([[1, 'key', 'value']])
  const memory = new Uint8Array(bytes.length + 20).fill(255)
  memory.set(bytes, 13)
  assert.deepEqual(all(memory.subarray(13, 13 + bytes.length)), [[1, 'key', 'value']])
})

test('the record format matches outbox.go: kind, number of fields, and fields with little-endian lengths', () => {
  assert.deepEqual([...encode([[3, 'ab', '']])], [3, 2, 2, 0, 0, 0, 97, 98, 0, 0, 0, 0])
  assert.deepEqual([...encodeFields(['x'.repeat(258)]).subarray(0, 5)], [2, 1, 0, 0, 120])
  assert.deepEqual([...concat([new Uint8Array([1]), new Uint8Array(0), new Uint8Array([2, 3])])], [1, 2, 3])
})

test('the record kinds match outbox.go', () => {
  const source = readFileSync(new URL('../outbox.go', import.meta.url), 'utf8')
  const [, body] = /const \(\n\tadded = iota \+ 1\n([^)]*)\)/.exec(source)
  const kinds = ['added', ...body.trim().split(/\s+/)]
  assert.equal(kinds.length, 12)
  kinds.forEach((kind, i) => assert.equal(records[kind.toUpperCase()], i + 1, kind))
})
