import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Groups, group, search } from '../groups.js'
import { Mirror } from '../mirror.js'
import { DELETED, MODIFIED } from '../records.js'
import { Snapshot } from '../snapshot.js'
import { rounds } from './random.mjs'
import { added, fields, first } from './support.mjs'

const keys = (items) => items.map(({ key }) => key)

test('incrementally updated groups equal groups built from all items', () => rounds(50, (random) => {
  const items = new Map(), valueOf = ({ value }) => value
  const groups = new Groups(items, valueOf)
  const results = []
  for (let step = 0; step < 200; step++) {
    const key = `pod-${random.below(30)}`, old = items.get(key)
    const item = random.below(3) ? { key, value: random.of('', 'n1', 'n2', 'n3') } : undefined
    if (item) items.set(key, item)
    else items.delete(key)
    groups.replace(old, item)
    if (random.below(5)) continue
    const expected = group(items.values(), valueOf)
    assert.deepEqual(new Map(groups.get()), expected)
    results.push([groups.get(), expected])
  }
  for (const [result, expected] of results) assert.deepEqual(new Map(result), expected, 'a later change must not modify an earlier result')
}))

test('a change replaces only the arrays of the affected groups', () => {
  const mirror = new Mirror(['node'])
  const take = () => new Snapshot(mirror, mirror.state)
  for (const [kind, ...rest] of first(added('a', 1, { values: ['n1'] }), added('b', 2, { values: ['n2'] }))) mirror.apply(kind, rest)
  const before = take(), n1 = before.by('node', 'n1'), n2 = before.by('node', 'n2')
  mirror.apply(MODIFIED, fields('a', 3, { values: ['n1'] }))
  const after = take()
  assert.notEqual(after.by('node', 'n1'), n1)
  assert.equal(after.by('node', 'n2'), n2)
  assert.equal(after.list()[1], before.list()[1])
  mirror.apply(MODIFIED, fields('a', 4, { values: ['n2'] }))
  assert.deepEqual([take().by('node', 'n1'), keys(take().by('node', 'n2'))], [[], ['default/a', 'default/b']])
})

test('an earlier snapshot does not change, even if its index is used later', () => {
  const mirror = new Mirror(['node'])
  for (const [kind, ...rest] of first(added('a', 1, { values: ['n1'] }), added('b', 2, { values: ['n1'] }))) mirror.apply(kind, rest)
  const before = new Snapshot(mirror, mirror.state)
  mirror.apply(DELETED, ['default/a', '3', ''])
  assert.deepEqual(keys(new Snapshot(mirror, mirror.state).by('node', 'n1')), ['default/b'])
  assert.deepEqual(keys(before.by('node', 'n1')), ['default/a', 'default/b'])
  assert.deepEqual(keys(before.list()), ['default/a', 'default/b'])
  assert.equal(before.get('default/a').metadata.name, 'a')
})

test('search() finds the position of each key, and the position where a missing key belongs', () => {
  const items = ['b', 'd', 'f'].map((key) => ({ key }))
  assert.deepEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => search(items, key)), [0, 0, 1, 1, 2, 2, 3])
})
