import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOOKMARK, DELETED, ACTIVITY, INTERRUPTED, SAVED, LIVE, MODIFIED, PAGE, RESET, STOPPED, SYNCED, SWITCHED, decode } from '../records.js'
import { Mirror, fieldsOf, valuesOf } from '../mirror.js'
import { replay } from '../replay.js'
import { Snapshot } from '../snapshot.js'
import { added, fields, first } from './support.mjs'

const fold = (mirror, ...records) => records.flatMap(([kind, ...rest]) => mirror.apply(kind, rest))
const by = (mirror, ...args) => new Snapshot(mirror, mirror.state).by(...args)
const keys = (items) => items.map(({ key }) => key)

test('an item parses its object only once', () => {
  const mirror = new Mirror()
  fold(mirror, added('web', 7, { object: { kind: 'Pod' } }))
  const item = mirror.items.get('default/web')
  assert.deepEqual([item.namespace, item.name, item.uid, item.resourceVersion], ['default', 'web', 'uid-web', '7'])
  assert.deepEqual(item.object, { kind: 'Pod' })
  assert.equal(item.object, item.object)
})

test('the key of an object without a namespace is its name', () => {
  const mirror = new Mirror()
  fold(mirror, [SAVED, 'node-1', '', 'u', '1', 's', '{}'])
  assert.deepEqual([mirror.items.get('node-1').namespace, mirror.items.get('node-1').name], ['', 'node-1'])
})

test('changes contain the old object, the new object and the flags', () => {
  const mirror = new Mirror()
  const [one] = fold(mirror, [RESET], added('a', 1))
  fold(mirror, [SYNCED, '1'])
  const [two, three, four, none] = fold(mirror, [MODIFIED, ...fields('a', 2)], added('b', 3), [DELETED, 'default/a', '4', '1'],
    [DELETED, 'default/a', '5', ''])
  assert.deepEqual([one, two, three, four].map(({ type, initial, finalStateUnknown }) => [type, initial, finalStateUnknown]),
    [['added', true, false], ['modified', false, false], ['added', false, false], ['deleted', false, true]])
  assert.equal(two.old, one.object)
  assert.equal(four.object, two.object)
  assert.equal(none, undefined)
  assert.deepEqual([...mirror.items.keys()], ['default/b'])
})

test('an ADDED record for an existing key modifies the object', () => {
  const mirror = new Mirror()
  const [, change] = fold(mirror, added('a', 1), added('a', 2))
  assert.equal(change.type, 'modified')
})

for (const [words, again] of [['added', added('a', 2, { uid: 'new' })], ['modified', [MODIFIED, ...fields('a', 2, { uid: 'new' })]],
  ['saved', [SAVED, ...fields('a', 2, { uid: 'new' })]], ['with the same resourceVersion', added('a', 1, { uid: 'new' })]]) {
  test(`a recreated object is deleted and added: ${words}`, () => {
    const mirror = new Mirror(['node'])
    const [, one] = fold(mirror, ...first(added('b', 1), added('a', 1)))
    const [gone, come, none] = fold(mirror, again)
    assert.deepEqual([gone, come].map(({ type, item, finalStateUnknown, old }) => [type, item.uid, finalStateUnknown, old]),
      [['deleted', 'uid-a', true, one.object], ['added', 'new', false, undefined]])
    assert.equal(none, undefined)
    assert.equal(mirror.items.get('default/a'), come.item)
  })
}

test('an object without a UID does not count as recreated', () => {
  const mirror = new Mirror()
  const changes = fold(mirror, added('a', 1), added('a', 2, { uid: '' }), added('a', 3))
  assert.deepEqual(changes.map(({ type }) => type), ['added', 'modified', 'modified'])
})

test('a saved object is stale until the server confirms it', () => {
  const mirror = new Mirror()
  const [kept] = fold(mirror, [SAVED, ...fields('a', 1)])
  assert.deepEqual([kept.initial, kept.stale, kept.type], [true, true, 'added'])
  assert.equal(mirror.isStale(kept.item), true)
  const [anew] = fold(mirror, added('a', 2))
  assert.deepEqual([anew.stale, mirror.isStale(anew.item)], [false, false])
  fold(mirror, [SYNCED, '2'])
  assert.equal(mirror.isStale(kept.item), false)
})

test('objects from IndexedDB are stale until a watch is open, and do not change the time of the last event', () => {
  const mirror = new Mirror()
  for (const records of [[[SAVED, ...fields('a', 1)], [ACTIVITY, '1234', '7']], [[RESET]], [[SYNCED, '']], [[INTERRUPTED, 'network', 'away', '', '', '800', '']]]) {
    fold(mirror, ...records)
    assert.deepEqual([mirror.state.lastEventAt, mirror.state.resourceVersion, mirror.state.phase], [1234, '7', 'stale'])
  }
  fold(mirror, [LIVE, '8'])
  assert.ok(mirror.state.lastEventAt > 1234)
})

test('indexes reflect every change and are sorted by key', () => {
  const mirror = new Mirror(['node', 'phase'])
  fold(mirror, added('b', 1, { values: ['n1', 'Running'] }), added('a', 1, { values: ['n1', ''] }), added('c', 1, { values: ['n2', ''] }))
  assert.deepEqual(keys(by(mirror, 'node', 'n1')), ['default/a', 'default/b'])
  assert.deepEqual(by(mirror, 'phase', ''), [])
  fold(mirror, [MODIFIED, ...fields('a', 2, { values: ['n2', ''] })], [DELETED, 'default/c', '3', ''])
  assert.deepEqual(keys(by(mirror, 'node', 'n1')), ['default/b'])
  assert.deepEqual(keys(by(mirror, 'node', 'n2')), ['default/a'])
  assert.throws(() => by(mirror, 'zone', 'z'), { code: 'invalid', message: /there is no index "zone"; add it to the option indexes/ })
})

test('an item returns the fields of its record before and after parsing', () => {
  const mirror = new Mirror(['node'])
  fold(mirror, added('a', 1, { values: ['n1'] }))
  const item = mirror.items.get('default/a')
  const before = fieldsOf(item)
  assert.equal(item.object.metadata.name, 'a')
  assert.deepEqual(fieldsOf(item), before)
  assert.deepEqual(before, ['default/a', '', 'uid-a', '1', 'sum', 'n1', '{"metadata":{"name":"a"}}'])
  assert.deepEqual(valuesOf(item), ['n1'])
})

test('a collection stays live while watches take turns, and reports why changes arrive late', () => {
  const mirror = new Mirror()
  fold(mirror, ...first(added('a', 1)), turns)
  assert.deepEqual([mirror.state.phase, mirror.state.cause.code, mirror.state.retryAt], ['live', 'turns', undefined])
  const late = new Mirror()
  for (const bytes of replay(mirror)) decode(bytes, (kind, fields) => late.apply(kind, fields))
  assert.deepEqual([late.state.phase, late.state.cause.message], ['live', 'watches take turns'])
  fold(mirror, [LIVE, '2'])
  assert.equal(mirror.state.cause, undefined)
  fold(mirror, [INTERRUPTED, 'network', 'the server is away', '', '', '800', ''], turns)
  assert.deepEqual([mirror.state.phase, mirror.state.cause.code], ['stale', 'network'])
})

test('the phase changes from waiting to listing, and to live when the watch is open', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 })
  const mirror = new Mirror()
  assert.deepEqual(mirror.state, { phase: 'waiting', since: 1000, resourceVersion: '', lastEventAt: 0, synced: false })
  t.mock.timers.setTime(2000)
  fold(mirror, [RESET], added('a', ''), [PAGE, '12', ''])
  assert.deepEqual([mirror.state.phase, mirror.state.since], ['listing', 2000])
  assert.deepEqual(mirror.state.progress, { received: 1, remaining: 12 })
  fold(mirror, [PAGE, '0', 'next'])
  assert.equal(mirror.state.progress.remaining, undefined)
  fold(mirror, [PAGE, '0', ''])
  assert.equal(mirror.state.progress.remaining, 0)
  assert.equal(mirror.synced, false)
  t.mock.timers.setTime(3000)
  fold(mirror, [SYNCED, '5'])
  assert.deepEqual([mirror.synced, mirror.state.phase, mirror.state.since, mirror.state.progress], [true, 'listing', 2000, undefined],
    'a complete list must not be live before its watch')
  fold(mirror, [LIVE, '5'])
  assert.deepEqual([mirror.state.phase, mirror.state.since, mirror.state.resourceVersion], ['live', 3000, '5'])
  t.mock.timers.setTime(4000)
  fold(mirror, [BOOKMARK, '6'], [INTERRUPTED, 'network', 'the watch failed', '', '', '800', ''])
  t.mock.timers.setTime(5000)
  fold(mirror, [INTERRUPTED, 'network', 'the watch failed again', '', '', '1600', ''], [RESET], [SYNCED, '7'])
  assert.deepEqual([mirror.state.phase, mirror.state.since], ['stale', 4000], 'a relist must not be live or listing')
  fold(mirror, [LIVE, '7'])
  assert.deepEqual([mirror.state.phase, mirror.state.since], ['live', 5000])
  fold(mirror, [BOOKMARK, '8'], [SWITCHED, 'a proxy'])
  assert.equal(mirror.state.resourceVersion, '8')
  assert.equal(mirror.state, mirror.state)
  assert.ok(Object.isFrozen(mirror.state))
})

test('an interruption of the first list returns to the phase waiting', () => {
  const mirror = new Mirror()
  fold(mirror, [RESET], added('a', ''), [INTERRUPTED, 'network', 'away', '', '', '800', ''])
  assert.deepEqual([mirror.state.phase, mirror.state.cause.code, mirror.items.size], ['waiting', 'network', 1])
  fold(mirror, [RESET])
  assert.deepEqual([mirror.state.phase, mirror.state.cause.code, mirror.state.retryAt], ['listing', 'network', undefined])
})

test('a list whose watch fails is stale', () => {
  const mirror = new Mirror()
  fold(mirror, [RESET], added('a', ''), [SYNCED, '5'], [INTERRUPTED, 'closed', 'ended', '', '', '0', ''])
  assert.equal(mirror.state.phase, 'stale')
})

test('an interruption has a cause and a retry time, but a clean close that resumes at once keeps the state live', () => {
  const mirror = new Mirror()
  fold(mirror, ...first())
  const live = mirror.state
  fold(mirror, [INTERRUPTED, 'closed', 'ended', '', '', '0', ''])
  assert.equal(mirror.state, live)
  const before = Date.now()
  fold(mirror, [INTERRUPTED, 'status', 'lw: 500', '500', 'InternalError', '800', ''])
  const { phase, cause, retryAt } = mirror.state
  assert.deepEqual([phase, cause.code, cause.status, cause.reason, cause.retryable], ['stale', 'status', 500, 'InternalError', true])
  assert.ok(retryAt >= before + 800 && retryAt <= Date.now() + 800)
  fold(mirror, [RESET])
  assert.deepEqual([mirror.state.phase, mirror.state.retryAt], ['stale', undefined])
  fold(mirror, [LIVE, '9'])
  assert.deepEqual([mirror.state.phase, mirror.state.cause], ['live', undefined])
})

test('a clean close followed by a relist or a delay counts as an interruption', () => {
  for (const words of [['0', '1'], ['800', '']]) {
    const mirror = new Mirror()
    fold(mirror, ...first(), [INTERRUPTED, 'closed', 'ended', '', '', ...words])
    assert.equal(mirror.state.phase, 'stale')
  }
})

test('a final error stops the collection', () => {
  const mirror = new Mirror()
  fold(mirror, [RESET], [STOPPED, 'forbidden', 'no', '403', 'Forbidden', '0', ''])
  const { phase, cause } = mirror.state
  assert.deepEqual([phase, cause.code, cause.status, cause.retryable], ['stopped', 'forbidden', 403, false])
})

const turns = [INTERRUPTED, 'turns', 'watches take turns', '', '', '0', '']
const down = [INTERRUPTED, 'network', 'away', '', '', '800', ''], closed = [INTERRUPTED, 'closed', 'ended', '', '', '0', '']
for (const [words, ...records] of [
  ['before the first list'], ['after a failed request', down], ['during the first list', [RESET], added('a', ''), [PAGE, '12', '']],
  ['after a failure during the first list', [RESET], added('a', ''), down], ['before the watch', [RESET], added('a', ''), [SYNCED, '5']],
  ['while it is live', ...first(added('a', 1))], ['after a clean close', ...first(added('a', 1)), closed], ['during another watch\'s turn', ...first(added('a', 1)), closed, turns],
  ['after an interruption', ...first(added('a', 1)), down], ['during a relist', ...first(added('a', 1)), down, [RESET]],
  ['after a relist', ...first(added('a', 1)), down, [RESET], [SYNCED, '12']],
  ['with saved objects', [SAVED, ...fields('a', 1)], [ACTIVITY, '1234', '7']],
  ['with restored objects', [SAVED, ...fields('a', 1)], [ACTIVITY, '1234', '7'], [RESET], [SYNCED, '']],
]) {
  test(`a page that joins ${words} has the same state`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1000 })
    const mirror = new Mirror()
    fold(mirror, ...records)
    t.mock.timers.setTime(1500)
    const late = new Mirror()
    for (const bytes of replay(mirror)) decode(bytes, (kind, fields) => late.apply(kind, fields))
    const members = ({ state: { since, progress, ...state }, resuming, items }) =>
      ({ ...state, since: items.size && since, cause: state.cause?.message, resuming: resuming?.timeout, received: progress?.received, keys: [...items.keys()], retryAt: state.retryAt })
    assert.deepEqual(members(late), members(mirror))
  })
}

test('saved objects count neither as server data nor as list progress', () => {
  const mirror = new Mirror()
  fold(mirror, [SAVED, ...fields('a', 1)])
  assert.deepEqual([mirror.state.lastEventAt, mirror.state.resourceVersion, mirror.state.progress], [0, '', undefined])
  fold(mirror, [RESET], [SAVED, ...fields('b', 1)])
  assert.equal(mirror.state.progress, undefined)
})

test('only the first list has progress, and a restarted list resets the number of remaining objects', () => {
  const mirror = new Mirror()
  fold(mirror, [RESET], [PAGE, '12', ''], [RESET], added('a', 1))
  assert.deepEqual(mirror.state.progress, { received: 1, remaining: undefined })
  fold(mirror, [SYNCED, '9'], [LIVE, '9'], [RESET], added('b', 10), [PAGE, '12', ''])
  assert.equal(mirror.state.progress, undefined)
})

test('changes from a resumed watch do not count as list progress', () => {
  const mirror = new Mirror()
  fold(mirror, [SAVED, ...fields('a', 1)], [ACTIVITY, '1234', '9'], [MODIFIED, ...fields('a', 10)])
  assert.equal(mirror.state.progress, undefined)
})

test('a replay of many objects contains each object once', () => {
  const mirror = new Mirror(), replayed = []
  fold(mirror, ...first(...Array.from({ length: 120 }, (_, i) => added(`pod-${i}`, i + 1))))
  for (const bytes of replay(mirror)) decode(bytes, (kind, [key]) => replayed.push(key))
  assert.deepEqual(replayed.filter((key) => key?.startsWith('default/')), [...mirror.items.keys()])
})
