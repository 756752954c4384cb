import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { ADDED, BOOKMARK, DELETED, INTERRUPTED, SAVED, LIVE, MODIFIED, PAGE, RESET, STOPPED, SWITCHED, SYNCED, UNSAVED, WARNING, decode } from '../records.js'
import { Changes } from '../change.js'
import { Collection } from '../collection.js'
import { ListWatchError } from '../error.js'
import { specOf } from '../spec.js'
import { added, fields, first, withFakeHost, until } from './support.mjs'

const batch = (collection) => new Promise((resolve) => {
  const end = collection.subscribe((changes) => {
    end()
    resolve(changes)
  })
})
const shape = ({ type, key }) => `${type} ${key}`

test('a snapshot is immutable, and a change replaces it', async () => {
  const { collection, host, opened } = withFakeHost({ indexes: { node: 'spec.nodeName' } })
  await opened
  const empty = collection.getSnapshot()
  assert.equal(collection.getSnapshot(), empty)
  host.send(...first(added('b', 1, { values: ['n1'] }), added('a', 1, { values: ['n2'] }), added('c', 1, { values: [''] })))
  const one = collection.getSnapshot()
  assert.notEqual(one, empty)
  assert.equal(collection.getSnapshot(), one)
  assert.equal(one.list(), one.list())
  assert.equal(collection.list(), one.list())
  assert.equal(one.state, collection.state)
  const held = one.list()
  host.send([DELETED, 'default/b', '2', ''], [MODIFIED, ...fields('a', 3, { values: ['n1'] })])
  assert.deepEqual([empty.size, one.size, collection.size], [0, 3, 2])
  assert.equal(one.list(), held)
  assert.deepEqual(held.map(({ key }) => key), ['default/a', 'default/b', 'default/c'])
  assert.deepEqual(one.by('node', 'n1').map(({ name }) => name), ['b'])
  assert.deepEqual(one.by('node', ''), [])
  assert.equal(one.by('node', 'n1'), one.by('node', 'n1'))
  assert.deepEqual(collection.by('node', 'n1').map(({ name }) => name), ['a'])
  assert.equal(one.item('default/a').resourceVersion, '1')
  assert.equal(one.get('default/a'), one.item('default/a').object)
  assert.equal(collection.item('default/a').resourceVersion, '3')
  assert.equal(one.get('default/none'), undefined)
  assert.throws(() => one.by('zone', 'z'), { code: 'invalid' })
})

test('objects are deleted if a new host does not send them', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1), added('b', 1)))
  host.client.failed(new ListWatchError('crashed', 'gone'))
  assert.deepEqual([collection.state.phase, collection.state.cause.code], ['stale', 'crashed'])
  assert.equal(collection.size, 2)
  await batch(collection)
  const next = batch(collection)
  host.send([SAVED, ...fields('a', 1)], ...first(added('a', 2), added('c', 2)))
  const changes = await next
  assert.deepEqual(changes.map(shape), ['modified default/a', 'added default/c', 'deleted default/b'])
  assert.equal(changes[2].finalStateUnknown, true)
  assert.equal(collection.state.phase, 'live')
  host.send([DELETED, 'default/a', '9', ''], ...first(added('c', 3)))
  assert.equal(collection.size, 1)
})

test('the snapshot is replaced when the host crashes', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  const live = collection.getSnapshot()
  await batch(collection)
  const next = batch(collection)
  host.client.failed(new ListWatchError('crashed', 'gone'))
  await next
  const { state, size } = collection.getSnapshot()
  assert.deepEqual([state.phase, size], ['stale', 1])
  assert.equal(live.state.phase, 'live')
})

test('objects resent unchanged by a new host cause no changes', async () => {
  const { collection, host, opened } = withFakeHost({ indexes: { node: 'spec.nodeName' } })
  await opened
  const on = (node) => ({ values: [node] })
  host.send(...first(added('same', 1, on('n1')), added('restored', 1, on('n1')), added('moved', 1, on('n1'))))
  const item = collection.item('default/same')
  await batch(collection)
  host.client.failed(new ListWatchError('crashed', 'gone'))
  assert.deepEqual(await batch(collection), [])
  const next = batch(collection)
  host.send(...first(added('same', 1, on('n1')), added('restored', 1, { ...on('n1'), sum: 'another' }), added('moved', 2, on('n2'))))
  assert.deepEqual((await next).map(shape), ['modified default/restored', 'modified default/moved'])
  assert.equal(collection.item('default/same'), item)
  assert.deepEqual(collection.by('node', 'n1').map(({ name }) => name), ['restored', 'same'])
  assert.deepEqual([collection.state.phase, collection.state.resourceVersion], ['live', '9'])
})

test('saved objects from a new host are applied only if they are newer than the current objects', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1), added('b', 8), added('c', 2)), [DELETED, 'default/gone', '9', ''])
  await batch(collection)
  host.client.failed(new ListWatchError('crashed', 'gone'))
  await batch(collection)
  const kept = (...all) => all.map(([name, version]) => [SAVED, ...fields(name, version)])
  const next = batch(collection)
  host.send(...kept(['a', 10], ['b', 7], ['c', 2], ['gone', 5], ['new', 11]), [RESET], [SYNCED, ''], [LIVE, '11'])
  assert.deepEqual((await next).map(({ type, key, initial, stale }) => [type, key, initial, stale].join(' ')),
    ['modified default/a false true', 'added default/new false true'])
  assert.deepEqual(collection.list().map(({ name, resourceVersion }) => name + resourceVersion), ['a10', 'b8', 'c2', 'new11'])
})

test('an object recreated during a host replacement is reported as deleted and added', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1), added('b', 1), added('c', 1)))
  const reader = collection[Symbol.asyncIterator](), read = async () => (await reader.next()).value
  assert.deepEqual([(await read()).key, (await read()).key, (await read()).key], ['default/a', 'default/b', 'default/c'])
  await batch(collection)
  host.client.failed(new ListWatchError('crashed', 'gone'))
  await batch(collection)
  const next = batch(collection)
  host.send([SAVED, ...fields('a', 5, { uid: 'new' })], ...first(added('b', 6, { uid: 'new' }), added('a', 7, { uid: 'new' }), added('c', 1)))
  const expected = ['deleted default/a uid-a true', 'added default/a new false', 'deleted default/b uid-b true', 'added default/b new false']
  const words = ({ type, key, item, finalStateUnknown }) => [type, key, item.uid, finalStateUnknown].join(' ')
  assert.deepEqual((await next).map(words), expected)
  const yielded = [await read(), await read(), await read(), await read()].map(words)
  assert.deepEqual(yielded.sort(), expected.sort())
  assert.deepEqual([collection.size, collection.item('default/a').resourceVersion], [3, '7'])
})

test('snapshots share unchanged objects', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1), added('b', 1)))
  const { object } = collection.item('default/a')
  host.send([MODIFIED, ...fields('b', 2)])
  assert.equal(collection.getSnapshot().get('default/a'), object)
})

test('a batch has at most one change for each object', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const told1 = batch(collection), tell = batch(collection)
  host.send(...first(added('a', 1), added('b', 1)))
  host.send([MODIFIED, ...fields('a', 2)], [DELETED, 'default/b', '3', ''], added('c', 4))
  assert.deepEqual((await told1).map(shape), ['added default/a', 'added default/c'])
  assert.deepEqual((await tell).map(shape), ['added default/a', 'added default/c'])
})

test('a state change without object changes causes an empty batch', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first())
  await batch(collection)
  host.send([INTERRUPTED, 'network', 'gone', '', '', '800', ''])
  assert.deepEqual(await batch(collection), [])
  assert.equal(collection.state.phase, 'stale')
})

test('a cleanly closed watch is live for five seconds, and then stale until the next watch opens', async (t) => {
  const { collection, host, opened } = withFakeHost()
  await opened
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = [INTERRUPTED, 'closed', 'ended', '', '', '0', '']
  host.send(...first(added('a', 1)), closed)
  t.mock.timers.tick(4999)
  host.send([LIVE, '9'])
  t.mock.timers.tick(100_000)
  assert.equal(collection.state.phase, 'live')
  const live = collection.getSnapshot()
  host.send(closed)
  t.mock.timers.tick(5000)
  assert.deepEqual([collection.state.phase, collection.state.cause.message, live.state.phase], ['stale', 'ended', 'live'])
  assert.equal(collection.getSnapshot().state, collection.state)
  host.send([LIVE, '9'])
  assert.deepEqual([collection.state.phase, collection.state.cause], ['live', undefined])
  collection.close()
})

test('a watch that waits for its turn is live for 30 seconds', async (t) => {
  const { collection, host, opened } = withFakeHost()
  await opened
  t.mock.timers.enable({ apis: ['setTimeout'] })
  host.send(...first(added('a', 1)), [INTERRUPTED, 'closed', 'ended', '', '', '0', ''], [INTERRUPTED, 'turns', 'watches take turns', '', '', '0', ''])
  t.mock.timers.tick(29_999)
  assert.deepEqual([collection.state.phase, collection.state.cause.code], ['live', 'turns'])
  t.mock.timers.tick(1)
  assert.deepEqual([collection.state.phase, collection.state.cause.code], ['stale', 'closed'], 'the cause of a stale state must explain it')
  collection.close()
})

test('a subscriber receives only changes made after it subscribed', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  assert.equal(collection.size, 1)
  const late = batch(collection)
  host.send(added('b', 2))
  assert.deepEqual((await late).map(shape), ['added default/b'])
})

test('an exception in a subscriber does not affect other subscribers, and a removed subscriber is not called', async (t) => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const thrown = new Promise((resolve) => process.prependOnceListener('uncaughtException', resolve))
  const listeners = process.listeners('uncaughtException').slice(1)
  listeners.forEach((listener) => process.off('uncaughtException', listener)) // the test runner's listeners would report a failure
  t.after(() => listeners.forEach((listener) => process.on('uncaughtException', listener)))
  let ended = 0
  collection.subscribe(() => { end(); throw new Error('a mistake') })
  const end = collection.subscribe(() => { ended++ })
  const other = batch(collection)
  host.send(...first(added('a', 1)))
  assert.equal((await other).length, 1)
  assert.equal((await thrown).message, 'a mistake')
  assert.equal(ended, 0)
})

test('an iterator yields the current objects and then the changes', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1), added('b', 1)))
  const changes = collection[Symbol.asyncIterator]() // the subscribers have not received these changes yet
  const next = async () => (await changes.next()).value
  const one = await next()
  assert.deepEqual([shape(one), one.initial, one.stale, one.old], ['added default/a', true, false, undefined])
  assert.equal(shape(await next()), 'added default/b')
  const waiting = next()
  host.send([MODIFIED, ...fields('b', 2)])
  const two = await waiting
  assert.deepEqual([shape(two), two.initial, two.item.resourceVersion], ['modified default/b', false, '2'])
})

test('a slow iterator yields the newest state and skips short-lived objects', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const changes = collection[Symbol.asyncIterator]()
  const waiting = changes.next()
  host.send(...first(added('a', 1), added('b', 1)))
  assert.equal((await waiting).value.key, 'default/a')
  for (let version = 2; version < 100; version++) host.send([MODIFIED, ...fields('b', version)], added('brief', version), [DELETED, 'default/brief', '1', ''])
  const { value } = await changes.next()
  assert.deepEqual([shape(value), value.item.resourceVersion], ['added default/b', '99'])
  collection.close()
  assert.equal((await changes.next()).done, true)
})

test('leaving a for-await loop does not close the collection', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  for await (const change of collection) {
    assert.equal(change.key, 'default/a')
    break
  }
  assert.equal(host.ended, 0)
})

for (const [way, end] of Object.entries({
  return: (changes) => changes.return('enough'),
  throw: (changes) => changes.throw(new Error('enough')).catch(({ message }) => ({ done: true, value: message })),
})) {
  test(`${way}() ends a waiting iterator at once`, async () => {
    const { collection, host, opened } = withFakeHost()
    await opened
    const changes = collection[Symbol.asyncIterator]()
    const waiting = [changes.next(), changes.next()]
    assert.deepEqual(await end(changes), { done: true, value: 'enough' })
    for (const next of waiting) assert.deepEqual(await next, { done: true, value: undefined })
    host.send(...first(added('a', 1)))
    assert.deepEqual(await changes.next(), { done: true, value: undefined })
  })
}

test('return() called from outside ends a for-await loop', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  const changes = collection[Symbol.asyncIterator](), seen = []
  const reading = (async () => { for await (const { key } of changes) seen.push(key) })()
  await until(() => seen.length === 1)
  changes.return()
  await reading
  assert.equal(host.ended, 0)
})

test('synced resolves after the first list', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first().slice(0, 2))
  await collection.synced
})

test('a final error rejects synced, ends iterations, and appears in the state', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send([STOPPED, 'forbidden', 'you may not', '403', 'Forbidden', '0', ''])
  const refused = { name: 'ListWatchError', code: 'forbidden', status: 403, reason: 'Forbidden', retryable: false, message: 'you may not' }
  await assert.rejects(collection.synced, refused)
  await assert.rejects(collection[Symbol.asyncIterator]().next(), refused)
  assert.equal(collection.state.phase, 'stopped')
  assert.equal(collection.state.cause.code, 'forbidden')
  assert.equal(collection.state, collection.state)
  assert.equal(host.ended, 1)
})

test('an iterator yields the pending changes before it throws', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const changes = collection[Symbol.asyncIterator]()
  const waiting = changes.next()
  host.send(...first(added('a', 1), added('b', 1)), [STOPPED, 'status', 'no', '500', '', '0', ''])
  assert.equal((await waiting).value.key, 'default/a')
  assert.equal((await changes.next()).value.key, 'default/b')
  await assert.rejects(changes.next(), { code: 'status' })
})

test('close() ends iterations, rejects synced, calls subscribers, and ignores later records', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const changes = collection[Symbol.asyncIterator]()
  const waiting = changes.next()
  const told1 = batch(collection)
  collection.close()
  collection.close()
  assert.deepEqual(await waiting, { done: true, value: undefined })
  assert.deepEqual(await told1, [])
  await assert.rejects(collection.synced, { code: 'aborted' })
  host.send(...first(added('a', 1)))
  assert.deepEqual([collection.size, collection.state.phase, collection.state.cause, host.ended], [0, 'stopped', undefined, 1])
})

test('an aborted signal stops the collection with the signal\'s reason', async () => {
  const controller = new AbortController()
  const { collection, host, opened } = withFakeHost({ signal: controller.signal })
  await opened
  host.send(...first(added('a', 1)))
  await collection.synced
  const reason = new Error('the view is gone')
  controller.abort(reason)
  assert.equal(host.ended, 1)
  assert.deepEqual([collection.state.cause.code, collection.state.cause.cause], ['aborted', reason])
  const changes = collection[Symbol.asyncIterator]()
  assert.equal((await changes.next()).value.key, 'default/a')
  await assert.rejects(changes.next(), { code: 'aborted' })
})

test('a closed collection removes its listener from the signal', async () => {
  const { signal } = new AbortController()
  const closed = withFakeHost({ signal })
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  closed.collection.close()
  const refused = withFakeHost({ signal })
  await refused.opened
  refused.host.send([STOPPED, 'forbidden', 'no', '403', '', '0', ''])
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('an aborted collection removes its listener from the signal', () => {
  const controller = new AbortController()
  withFakeHost({ signal: controller.signal })
  controller.abort()
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
})

test('state.persistError explains why the collection is not saved', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  const late = withFakeHost()
  const join = () => {
    for (const bytes of host.client.replay()) decode(bytes, (kind, fields) => late.host.send([kind, ...fields]))
    return late.collection.state.persistError?.message
  }
  await late.opened
  host.send([UNSAVED, 'no database'])
  assert.equal(join(), 'no database')
  host.send(...first(added('a', 1)))
  const { phase, persistError } = collection.state
  assert.equal(phase, 'live')
  assert.ok(persistError instanceof ListWatchError)
  assert.deepEqual([persistError.code, persistError.message, persistError.retryable], ['storage', 'no database', false])
  assert.equal(join(), 'no database')
  assert.equal(late.collection.size, 1)
  host.client.failed(new ListWatchError('crashed', 'gone')) // clears the error, because the next worker may be able to save
  assert.equal(collection.state.persistError, undefined)
})

test('synced rejects even if it is first read after the failure', async () => {
  const { collection } = withFakeHost()
  collection.close()
  await assert.rejects(collection.synced, { code: 'aborted' })
  assert.equal(collection.synced, collection.synced)
})

test('synced stays resolved when the collection is closed', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first())
  collection.close()
  await collection.synced
})

test('if nothing handles a rejection of synced, it is reported as unhandled', async (t) => {
  const unhandled = new Promise((resolve) => process.prependOnceListener('unhandledRejection', resolve))
  const listeners = process.listeners('unhandledRejection').slice(1)
  listeners.forEach((listener) => process.off('unhandledRejection', listener)) // the test runner's listeners would report a failure
  t.after(() => listeners.forEach((listener) => process.on('unhandledRejection', listener)))
  withFakeHost().collection.close() // causes no unhandled rejection, because synced is not read
  const { collection } = withFakeHost()
  void collection.synced
  collection.close()
  assert.equal(await unhandled, await collection.synced.catch((error) => error))
})

test('a collection whose signal is already aborted is not opened', async () => {
  const { collection, host, opened } = withFakeHost({ signal: AbortSignal.abort() })
  await opened
  await assert.rejects(collection.synced, { code: 'aborted' })
  assert.equal(host.send, undefined)
})

test('a collection that is closed while the module loads is not opened', async () => {
  const { collection, host, opened } = withFakeHost()
  collection.close()
  await opened
  assert.equal(host.send, undefined)
})

test('a failed host stops the collection', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)), [LIVE, '9'])
  host.client.failed(new ListWatchError('load', 'gone'))
  assert.equal(collection.state.cause.code, 'load')
  assert.equal(collection.size, 1)
})

test('a collection reopens after a crash, but stops after the third restart within a minute', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 })
  const warn = t.mock.method(console, 'warn', () => {})
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  const { synced } = collection
  const crash = async () => {
    host.client.failed(new ListWatchError('crashed', 'listwatch: the worker is gone'))
    const { phase, cause: { code } } = collection.state
    await new Promise(setImmediate)
    return `${phase} ${code} ${collection.size} ${host.ended}`
  }
  assert.deepEqual([await crash(), await crash(), await crash()], ['stale crashed 1 1', 'stale crashed 1 2', 'stale crashed 1 3'])
  t.mock.timers.tick(60_000)
  assert.equal(await crash(), 'stale crashed 1 4')
  host.send(...first(added('b', 2)))
  assert.deepEqual([collection.state.phase, collection.list().map(({ name }) => name)], ['live', ['b']])
  await crash()
  await crash()
  assert.equal(await crash(), 'stopped crashed 1 7')
  assert.deepEqual(warn.mock.calls.map(({ arguments: [text] }) => text), [...Array(6).fill('listwatch: the worker is gone; the collection restarts'), 'listwatch: the worker is gone'])
  assert.equal(collection.synced, synced)
})

const REFUSED = [STOPPED, 'forbidden', 'listwatch: 403', '403', 'Forbidden', '0', '']
test('retry() reopens a failed collection, whose objects are stale until the new list is complete', async () => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send([RESET], added('a', ''), REFUSED)
  const failed = collection.synced
  await assert.rejects(failed, { code: 'forbidden' })
  assert.deepEqual([collection.state.phase, host.ended], ['stopped', 1])
  collection.retry()
  assert.deepEqual([collection.state.phase, collection.state.cause, collection.state.retryAt], ['waiting', undefined, undefined])
  const retried = collection.synced
  assert.notEqual(retried, failed)
  await new Promise(setImmediate)
  host.send(...first(added('b', 2)))
  await retried
  assert.deepEqual([collection.state.phase, collection.state.cause, collection.list().map(({ name }) => name)], ['live', undefined, ['b']])
  host.send(REFUSED)
  collection.retry()
  assert.deepEqual([collection.state.phase, collection.size], ['stale', 1])
})

test('retry() wakes a collection that is not stopped, and does not reopen a closed or aborted one', async () => {
  let woken = 0
  const { collection, host, opened } = withFakeHost()
  host.wake = () => { woken++ }
  await opened
  host.send(...first())
  collection.retry()
  assert.deepEqual([woken, host.ended, collection.state.phase], [1, 0, 'live'])
  collection.close()
  const abort = new AbortController()
  const aborted = withFakeHost({ signal: abort.signal })
  await aborted.opened
  abort.abort()
  for (const each of [collection, aborted.collection]) {
    each.retry()
    assert.equal(each.state.phase, 'stopped')
  }
  assert.equal(woken, 1)
})

test('a retried collection still stops when its signal is aborted', async () => {
  const abort = new AbortController()
  const { collection, host, opened } = withFakeHost({ signal: abort.signal })
  await opened
  host.send(REFUSED)
  collection.retry()
  abort.abort()
  assert.deepEqual([collection.state.phase, collection.state.cause.code], ['stopped', 'aborted'])
})

test('trace receives each step and the warnings, which otherwise appear in the console', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {}), steps = []
  const records = [[RESET], [PAGE, '3', ''], added('a', 1), [SYNCED, '9'], [LIVE, '9'], [BOOKMARK, '10'], [SWITCHED, 'a proxy'],
    [INTERRUPTED, 'network', 'no answer', '', '', '800', ''], [WARNING, 'the stream was interrupted'], REFUSED]
  for (const trace of [undefined, (...step) => steps.push(step.join(' '))]) {
    const { host, opened } = withFakeHost({ trace })
    await opened
    host.send(...records)
  }
  assert.deepEqual(steps, ['list ', 'page 3', 'synced 9', 'live 9', 'bookmark 10', 'switched a proxy', 'interrupted network: no answer', 'warning the stream was interrupted', 'stopped forbidden: listwatch: 403'])
  assert.deepEqual(warn.mock.calls.map(({ arguments: [text] }) => text), ['the stream was interrupted'])
})

test('collections that warn about the same cause are logged once per minute, and other warnings always', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1 })
  const { report } = await import('../report.js?outage'), warn = t.mock.method(console, 'warn', () => {})
  const fail = (name, cause) => report(WARNING, [`${name}: ${cause}`, cause])
  for (const name of ['pods', 'nodes']) {
    fail(name, 'no answer')
    fail(name, '403')
  }
  t.mock.timers.tick(59_999)
  fail('jobs', 'no answer')
  t.mock.timers.tick(1)
  fail('jobs', 'no answer')
  for (let i = 0; i < 2; i++) report(WARNING, ['the worker is gone'])
  assert.deepEqual(warn.mock.calls.map(({ arguments: [text] }) => text), ['pods: no answer', 'pods: 403', 'jobs: no answer', 'the worker is gone', 'the worker is gone'])
})

test('an error in trace is reported, and does not affect the collection', async (t) => {
  const thrown = []
  t.mock.method(globalThis, 'queueMicrotask', (f) => { try { f() } catch (error) { thrown.push(error.message) } })
  const { collection, host, opened } = withFakeHost({ trace() { throw new Error('a mistake') } })
  await opened
  host.send(...first(added('a', 1)))
  assert.deepEqual([collection.state.phase, [...new Set(thrown)]], ['live', ['a mistake']])
})

test('the console shows once that watches take turns', async (t) => {
  const { report } = await import('../report.js?page') // a new copy, because other collections of these tests take turns, too
  const warn = t.mock.method(console, 'warn', () => {})
  for (let i = 0; i < 2; i++) report(INTERRUPTED, ['turns', 'watches take turns; allow WebSockets', '', '', '0', ''])
  assert.deepEqual(warn.mock.calls.map(({ arguments: [text] }) => text), ['listwatch: watches take turns; allow WebSockets'])
})

test('a failure during host.open() closes the collection in the host', async () => {
  let ended = 0
  const host = {
    open(_, client) {
      client.failed(new ListWatchError('load', 'the module ended'))
      return () => { ended++ }
    },
  }
  const collection = new Collection(specOf({ server: 'http://host', resource: 'pods' }).spec, undefined, {}, async () => host)
  await assert.rejects(collection.synced, { code: 'load' })
  assert.equal(ended, 1)
})

test('a visible page calls subscribers once, in the next animation frame', async (t) => {
  t.after(() => { delete globalThis.document })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { host, collection, opened } = withFakeHost()
  await opened
  let frame, cancelled, calls = 0
  globalThis.document = { visibilityState: 'visible' }
  globalThis.requestAnimationFrame = (f) => { frame = f; return 7 }
  globalThis.cancelAnimationFrame = (id) => { cancelled = id }
  collection.subscribe(() => { calls++ })
  host.send(...first(added('a', 1)))
  frame()
  t.mock.timers.tick(100)
  assert.equal(calls, 1)
  host.send(added('b', 2))
  t.mock.timers.tick(16) // the timer delivers the change if no animation frame comes
  assert.deepEqual([calls, cancelled], [2, 7])
})

test('changes are not queued for a finished iteration', async (t) => {
  const { collection, host, opened } = withFakeHost()
  await opened
  host.send(...first(added('a', 1)))
  for await (const change of collection) if (change) break
  const add = t.mock.method(Changes.prototype, 'add')
  host.send(added('b', 2))
  assert.equal(add.mock.callCount(), 0)
})

test('a replay for a joining page contains each object once', async () => {
  const { host, opened } = withFakeHost()
  await opened
  host.send(...first(...Array.from({ length: 120 }, (_, i) => added(`pod-${i}`, 1))))
  const keys = []
  for (const bytes of host.client.replay()) decode(bytes, (kind, [key]) => kind === ADDED && keys.push(key))
  assert.deepEqual([keys.length, new Set(keys).size], [120, 120])
})
