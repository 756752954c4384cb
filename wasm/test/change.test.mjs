import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Change, Changes } from '../change.js'

const item = (version) => ({ key: 'k', object: version })
const change = (type, before, now, flags) => new Change(type, item(now), before && item(before), flags)
const shape = ({ type, object, old }) => [type, old, object]

// Each row contains two changes and the merged change, or undefined if the changes cancel each other out.
const table = [
  [['added', undefined, 1], ['modified', 1, 2], ['added', undefined, 2]],
  [['added', undefined, 1], ['deleted', 1, 1], undefined],
  [['modified', 1, 2], ['modified', 2, 3], ['modified', 1, 3]],
  [['modified', 1, 2], ['deleted', 2, 2], ['deleted', 1, 2]],
]

for (const [first, second, expected] of table) {
  test(`merges ${first[0]} and ${second[0]} into ${expected?.[0] ?? 'no change'}`, () => {
    const changes = new Changes()
    changes.add(change(...first))
    changes.add(change(...second))
    assert.deepEqual(changes.take().map(shape), expected ? [expected] : [])
    assert.deepEqual(changes.take(), [])
  })
}

// Yields all sequences of up to six steps. The steps `a`, `m` and `d` add, modify and delete an object, and `t`
// delivers the pending changes.
const lives = function* (steps = '') {
  yield steps
  if (steps.length < 6) for (const step of 'amdt') yield* lives(steps + step)
}

for (const all of [false, true]) {
  test(`a slow reader receives a valid sequence of changes: ${all ? 'all at once' : 'one at a time'}`, () => {
    for (const steps of lives()) {
      const changes = new Changes()
      let now, told, version = 0, legal = true
      const take = () => {
        const next = all ? changes.take() : [changes.shift()].filter(Boolean)
        for (const { type, old, item } of next) {
          assert.equal(type === 'added', !told, steps)
          assert.equal(old, told?.object, steps)
          if (told) assert.equal(item.uid, told.uid, steps)
          told = type === 'deleted' ? undefined : item
        }
        assert.ok(next.length <= 2, steps)
        return next.length
      }
      const write = (type, item) => {
        changes.add(new Change(type, item ?? now, now))
        now = item
      }
      for (const step of steps) {
        version++
        if (step === 't') take()
        else if (!(legal &&= (step === 'a') === !now)) break
        else if (step === 'd') write('deleted')
        else write(now ? 'modified' : 'added', { key: 'k', object: version, uid: now?.uid ?? version })
      }
      while (take());
      assert.equal(told, now, steps)
    }
  })
}

test('a deletion and a later addition remain two changes with separate flags', () => {
  for (const take of [(changes) => changes.take(), (changes) => [changes.shift(), changes.shift(), changes.shift()]]) {
    const changes = new Changes()
    changes.add(change('modified', 1, 2))
    changes.add(change('deleted', 2, 2, { finalStateUnknown: true }))
    changes.add(change('added', undefined, 3, { stale: true }))
    changes.add(change('modified', 3, 4))
    changes.add(new Change('added', { key: 'other', object: 5 }))
    assert.deepEqual(take(changes).map((c) => [...shape(c), c.finalStateUnknown, c.stale]), [['deleted', 1, 2, true, false], ['added', undefined, 4, false, false], ['added', undefined, 5, false, false]])
    assert.deepEqual(changes.take(), [])
  }
})

test('a canceled addition does not delay changes to other objects', () => {
  const changes = new Changes()
  const add = (type, key) => changes.add(new Change(type, { key, object: key }))
  add('added', 'cancelled')
  add('deleted', 'cancelled')
  add('added', 'other')
  assert.equal(changes.shift()?.key, 'other')
  assert.equal(changes.shift(), undefined)
})

test('an addition from the first list keeps the flag "initial" after a merge', () => {
  const changes = new Changes()
  changes.add(change('added', undefined, 1, { initial: true, stale: true }))
  changes.add(change('modified', 1, 2))
  const [{ initial, stale }] = changes.take()
  assert.deepEqual({ initial, stale }, { initial: true, stale: false })
})

test('a merged deletion keeps finalStateUnknown', () => {
  const changes = new Changes()
  changes.add(change('modified', 1, 2))
  changes.add(change('deleted', 2, 2, { finalStateUnknown: true }))
  assert.equal(changes.take()[0].finalStateUnknown, true)
})

test('shift() returns merged changes in order, including changes added after the first call', () => {
  const named = (key, type, object) => new Change(type, { key, object }, undefined)
  const changes = new Changes()
  changes.add(named('a', 'added', 1))
  changes.add(named('b', 'added', 1))
  assert.equal(changes.shift().key, 'a')
  changes.add(named('b', 'modified', 2))
  changes.add(named('a', 'modified', 2))
  assert.deepEqual([changes.shift(), changes.shift()].map(({ key, object, type }) => [key, type, object]),
    [['b', 'added', 2], ['a', 'modified', 2]])
  assert.equal(changes.shift(), undefined)
  changes.add(named('c', 'added', 1))
  assert.equal(changes.shift().key, 'c')
})
