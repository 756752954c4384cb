import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Channel, crashed } from '../messages.js'

const turns = () => new Promise(setImmediate)

// Returns two connected ports. A message arrives in the next microtask.
function ports() {
  const end = () => ({ sent: [], postMessage(data) { this.sent.push(data); queueMicrotask(() => this.other.onmessage?.({ data })) } })
  const [a, b] = [end(), end()]
  a.other = b
  b.other = a
  return [a, b]
}

function channels(handlers = {}) {
  const [near, far] = ports(), reports = []
  const channel = new Channel(near, {}, (error) => reports.push(error))
  new Channel(far, handlers, (error) => reports.push(error))
  return { channel, near, far, reports }
}

test('a call returns the value of its own answer', async () => {
  const { channel } = channels({ double: async ({ n }) => { await turns(); return 2 * n } })
  assert.deepEqual(await Promise.all([channel.call({ type: 'double', n: 1 }), channel.call({ type: 'double', n: 2 })]), [2, 4])
})

test('a call returns the received parts if its answer has no value', async () => {
  const { channel } = channels({ tell: (_, part) => { part('a'); part('b') } })
  assert.deepEqual(await channel.call({ type: 'tell' }), ['a', 'b'])
})

test('a call rejects with the code of the exception that its handler threw', async () => {
  const { channel, reports } = channels({ fail: () => { throw Object.assign(new Error('no'), { code: 'forbidden', status: 403, reason: 'Forbidden' }) }, plain: () => { throw new TypeError('bad') } })
  await assert.rejects(channel.call({ type: 'fail' }), { name: 'ListWatchError', code: 'forbidden', message: 'no', status: 403, reason: 'Forbidden' })
  await assert.rejects(channel.call({ type: 'plain' }), { name: 'ListWatchError', code: 'crashed', message: 'bad' })
  assert.deepEqual(reports, [])
})

test('a call that times out rejects, and its late answer is ignored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { channel, near, reports } = channels()
  near.other.onmessage = null
  const call = channel.call({ type: 'slow' }, 1000)
  t.mock.timers.tick(999)
  near.onmessage({ data: { type: 'part', id: 1, bytes: 'a' } }) // each part of the answer restarts the timeout
  t.mock.timers.tick(999)
  assert.equal(channel.pending.size, 1)
  t.mock.timers.tick(1)
  await assert.rejects(call, /no answer within 1000 ms/)
  assert.equal(channel.pending.size, 0)
  near.onmessage({ data: { type: 'part', id: 1, bytes: 'b' } })
  near.onmessage({ data: { type: 'answer', id: 1, value: 'late' } })
  assert.deepEqual(reports, [])
})

test('an answer stops the timer of its call', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { channel } = channels({ quick: () => 'value' })
  assert.equal(await channel.call({ type: 'quick' }, 1000), 'value')
  assert.equal(channel.pending.size, 0)
  t.mock.timers.tick(1000)
})

test('end() rejects all pending and later calls, and stops the channel', async () => {
  const { channel, near, far } = channels({ never: () => new Promise(() => {}) })
  const error = new Error('the worker is gone')
  const pending = [channel.call({ type: 'never' }), channel.call({ type: 'never' }, 1000)]
  channel.end(error)
  channel.end(new Error('again'))
  for (const call of [...pending, channel.call({ type: 'never' })]) await assert.rejects(call, error)
  channel.send({ type: 'never' })
  assert.equal(near.sent.length, 2)
  assert.equal(near.onmessage, null)
  assert.equal(near.onmessageerror, null)
  far.postMessage({ type: 'answer', id: 1 })
  await turns()
})

for (const [words, data] of Object.entries({
  'without a type': {}, 'that is null': null, 'of an unknown type': { type: 'toString' }, 'that responds to an unknown call': { type: 'answer', id: 7 },
  'that rejects a call but contains no id': { type: 'refused' },
})) {
  test(`a message ${words} is reported`, async () => {
    const reports = []
    const [near] = ports()
    new Channel(near, { open: ({ spec }) => spec.endpoint }, (error) => reports.push(error))
    near.onmessage({ data })
    await turns()
    assert.equal(reports.length, 1)
    assert.deepEqual([reports[0].name, reports[0].code], ['ListWatchError', 'load'])
    assert.match(reports[0].message, /reload the page/)
  })
}

test('an exception or rejected promise in a message handler is reported', async () => {
  const reports = []
  const [near] = ports()
  new Channel(near, { open: ({ spec }) => spec.endpoint, close: async () => { throw new Error('a mistake') } }, (error) => reports.push(error))
  near.onmessage({ data: { type: 'open' } })
  near.onmessage({ data: { type: 'close' } })
  await turns()
  assert.deepEqual(reports.map(({ name, code }) => `${name} ${code}`), ['ListWatchError crashed', 'ListWatchError crashed'])
  assert.match(reports[0].message, /the message open failed: .*undefined/)
})

test('a message that cannot be deserialized is reported', () => {
  const { near, reports } = channels()
  near.onmessageerror({})
  assert.deepEqual(reports.map(({ code }) => code), ['load'])
})

test('a call that cannot be sent rejects and is no longer pending', async () => {
  const channel = new Channel({ postMessage(data) { structuredClone(data) } }, {}, () => {})
  await assert.rejects(channel.call({ type: 'load', wasm: () => {} }), { name: 'DataCloneError' })
  assert.equal(channel.pending.size, 0)
})

test('crashed() keeps the cause of an error and returns a ListWatchError unchanged', () => {
  const cause = new TypeError('a mistake'), error = crashed('the worker failed', cause)
  assert.deepEqual([error.code, error.message, error.cause], ['crashed', 'listwatch: the worker failed: a mistake', cause])
  assert.equal(crashed('it failed', error), error)
})
