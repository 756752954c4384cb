import assert from 'node:assert/strict'
import { test } from 'node:test'
import { glue } from '../glue.js'
import { Locks, Slots } from '../slots.js'

const SERVER = 'http://127.0.0.1:8001/k8s'
const turns = () => new Promise((resolve) => setImmediate(resolve))

// Simulates a browser whose resource timing entries, Web Locks and clock the test controls.
function browser(locks = new Locks()) {
  const sleeping = []
  let report
  class Observer {
    constructor(callback) { report = callback }
    observe(options) { assert.deepEqual(options, { type: 'resource', buffered: true }) }
  }
  const slots = new Slots(locks, Observer, (ms) => new Promise((resolve) => sleeping.push({ ms, resolve })))
  const take = (wait = false, server = SERVER) => {
    const taken = { over: false }
    const closed = new Promise((resolve) => { taken.close = resolve })
    slots.acquire(server, wait, closed).then((answer) => {
      taken.answer = answer.text ?? answer
      answer.revoked?.then(() => { taken.over = true })
    }, (error) => { taken.error = error })
    return taken
  }
  return {
    locks, sleeping, take, slots,
    observe: (protocol, server = SERVER) => report({ getEntries: () => [{ name: `${server}/api/v1/pods`, nextHopProtocol: protocol }] }),
    async pass(ms) {
      for (const { resolve } of sleeping.filter((each) => each.ms === ms).splice(0)) resolve()
      for (let i = sleeping.length - 1; i >= 0; i--) if (sleeping[i].ms === ms) sleeping.splice(i, 1)
      for (let i = 0; i < 5; i++) await turns()
    },
  }
}

const answers = async (all) => {
  for (let i = 0; i < 5; i++) await turns()
  return all.map(({ answer }) => answer)
}

for (const protocol of ['http/1.1', 'http/1.0', '']) {
  test(`with the protocol "${protocol}", two watches on a server get slots, and the third gets "busy"`, async () => {
    const page = browser()
    page.observe(protocol)
    assert.deepEqual(await answers([page.take(), page.take(), page.take()]), ['slot', 'slot', 'busy'])
    assert.deepEqual(await answers([page.take(false, 'http://127.0.0.1:8002')]), [undefined], 'a watch on another server must wait for a timing entry')
    await page.pass(200)
  })
}

for (const protocol of ['h2', 'h3', 'h2c']) {
  test(`watches over ${protocol} need no slots`, async () => {
    const page = browser()
    page.observe(protocol)
    page.observe('')
    assert.deepEqual(await answers([page.take(), page.take(), page.take(true)]), ['', '', ''])
  })
}

test('a watch briefly waits to learn the HTTP version of a list that has just ended', async () => {
  const page = browser()
  const taken = [page.take(), page.take(), page.take()]
  assert.deepEqual(await answers(taken), [undefined, undefined, undefined])
  page.observe('h2')
  await page.pass(200)
  assert.deepEqual(await answers(taken), ['', '', ''])
})

test('a server without a timing entry is treated as HTTP/1.1', async () => {
  const page = browser()
  const taken = [page.take(), page.take(), page.take()]
  await turns()
  await page.pass(200)
  assert.deepEqual(await answers(taken), ['slot', 'slot', 'busy'])
})

test('each origin has two slots, regardless of the path', async () => {
  const page = browser(), other = 'https://other:6443'
  page.observe('http/1.1')
  page.observe('http/1.1', other)
  const taken = [page.take(), page.take(false, 'http://127.0.0.1:8001'), page.take(), page.take(false, other), page.take(false, other), page.take(false, other)]
  assert.deepEqual(await answers(taken), ['slot', 'slot', 'busy', 'slot', 'slot', 'busy'])
})

test('all tabs share the slots', async () => {
  const first = browser(), second = browser(first.locks)
  first.observe('http/1.1')
  second.observe('http/1.1')
  const taken = [first.take()]
  await answers(taken)
  taken.push(second.take())
  await answers(taken)
  taken.push(second.take())
  assert.deepEqual(await answers(taken), ['slot', 'slot', 'busy'])
  taken[0].close()
  await answers(taken)
  assert.deepEqual(await answers([second.take()]), ['slot'])
})

test('waiting watches are queued for the two slots alternately', async () => {
  const page = browser()
  page.observe('http/1.1')
  const holders = [page.take(), page.take()]
  await answers(holders)
  const waiting = [page.take(true), page.take(true), page.take(true)]
  assert.deepEqual(await answers(waiting), [undefined, undefined, undefined])
  holders[1].close()
  assert.deepEqual(await answers(waiting), [undefined, 'slot', undefined])
  holders[0].close()
  assert.deepEqual(await answers(waiting), ['slot', 'slot', undefined])
  assert.deepEqual(await answers([page.take()]), ['busy'])
  waiting[0].close()
  assert.deepEqual(await answers(waiting), ['slot', 'slot', 'slot'])
  assert.deepEqual((await page.locks.query()).pending, [])
})

test('if a waiting watch is closed, the next watch gets the slot', async () => {
  const page = browser()
  page.observe('http/1.1')
  const [a, b] = [page.take(), page.take()]
  await answers([a, b])
  const [gone, c, next] = [page.take(true), page.take(true), page.take(true)]
  await answers([gone, c, next])
  gone.close()
  a.close()
  await answers([gone])
  assert.deepEqual(await answers([c, next]), [undefined, 'slot'])
})

test('a watch that is closed before it gets a slot holds no slot', async () => {
  const page = browser()
  const gone = page.take()
  gone.close()
  page.observe('http/1.1')
  await page.pass(200)
  await answers([gone])
  assert.deepEqual(await answers([page.take(), page.take(), page.take()]), ['slot', 'slot', 'busy'])
})

test('a turn ends after its minimum duration if another watch is waiting', async () => {
  const page = browser()
  page.observe('http/1.1')
  const [a, b] = [page.take(), page.take()]
  await answers([a, b])
  await page.pass(5000)
  assert.deepEqual([a.over, b.over], [false, false], 'a turn must not end while no other watch is waiting')
  const c = page.take(true)
  await answers([c])
  assert.deepEqual([a.over, b.over], [false, false], 'a turn must not end before its minimum duration')
  await page.pass(5000)
  assert.deepEqual([a.over, b.over], [true, false])
  const d = page.take(true)
  await answers([d])
  await page.pass(5000)
  assert.deepEqual([a.over, b.over], [true, true])
})

test('a returned slot is not revoked', async () => {
  const page = browser()
  page.observe('http/1.1')
  const a = page.take()
  await answers([a])
  a.close()
  await answers([a])
  await page.pass(5000)
  assert.deepEqual(page.sleeping, [])
})

test('a watch fails if its lock request fails', async () => {
  const page = browser({ request: async () => { throw new Error('no locks') } })
  page.observe('http/1.1')
  const [a, b] = [page.take(), page.take(true)]
  await answers([a, b])
  assert.deepEqual([a.error?.message, b.error?.message], ['no locks', 'no locks'])
})

test('a page without lock permission has two separate slots', async () => {
  const page = browser({ request: async () => { throw new DOMException('Access to the Locks API is denied', 'SecurityError') } })
  page.observe('http/1.1')
  const taken = [page.take(), page.take(), page.take(), page.take(true)]
  assert.deepEqual(await answers(taken), ['slot', 'slot', 'busy', undefined])
  await page.pass(5000)
  taken[0].close()
  assert.deepEqual(await answers(taken), ['slot', 'slot', 'busy', 'slot'])
})

test('Node does not limit the number of watches', async () => {
  const slots = new Slots()
  for (let i = 0; i < 5; i++) assert.equal(await slots.acquire(SERVER, false, Promise.resolve()), '')
})

test('a crashed module releases its slots and leaves the queue', async () => {
  const page = browser()
  page.observe('http/1.1')
  const exports = { mem: { buffer: new ArrayBuffer(100) }, listwatch_wake() {} }
  const go = { importObject: {}, _inst: { exports }, _scheduledTimeouts: new Map(), _resume() { if (crash) throw new WebAssembly.RuntimeError('unreachable') } }
  const crashes = [], asked = []
  let crash = false
  glue(go, { ask: (question, closed) => page.slots.acquire(SERVER, asked.push(question) > 2, closed), crashed: (error) => crashes.push(error) })
  const { open, ask } = go.importObject.listwatch
  for (const slots of [1, 2]) {
    ask(open(0, 0))
    await answers([])
    assert.equal(asked.length, slots)
  }
  const other = page.take()
  assert.deepEqual(await answers([other]), ['busy'])
  ask(open(0, 0))
  await answers([])
  assert.equal((await page.locks.query()).pending.length, 1)
  crash = true
  go._resume()
  assert.equal(crashes.length, 1)
  await answers([])
  assert.deepEqual(await answers([page.take(), page.take()]), ['slot', 'slot'])
  assert.deepEqual((await page.locks.query()).pending, [])
})
