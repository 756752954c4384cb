import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListWatchError } from '../error.js'
import { Mirror } from '../mirror.js'
import { replay } from '../replay.js'
import { Snapshot } from '../snapshot.js'
import { DELETED, INTERRUPTED, SAVED, PAGE, RESET, STOPPED, decode, encode } from '../records.js'
import { SharedHost } from '../shared.js'
import { specOf } from '../spec.js'
import { added, fields, first } from './support.mjs'

function shared() {
  const engine = {
    started: [],
    stopped: [],
    open: () => engine.started.length - engine.stopped.length,
    start(spec, sink) {
      const tell = (...records) => {
        const bytes = encode(records)
        sink.records(bytes)
        bytes.fill(0) // the engine also reuses this memory
      }
      return this.started.push({ spec, tell, sink })
    },
    stop(id) { this.stopped.push(id) },
  }
  return { engine, host: new SharedHost(engine) }
}

const { spec } = specOf({ server: 'http://host', resource: 'pods', indexes: { node: 'spec.nodeName', image: 'spec.containers[0].image' } })

function client() {
  const mirror = new Mirror(['node', 'image'])
  return { mirror, records: (bytes) => decode(bytes, (kind, fields) => mirror.apply(kind, fields)), failed() {}, replay: async () => [...replay(mirror)] }
}

const settled = () => new Promise(setImmediate)

test('clients of the same collection share one watch, which ends with the last client', () => {
  const { engine, host } = shared()
  const ends = [host.open(spec, client()), host.open(spec, client())]
  host.open(specOf({ server: 'http://host', resource: 'nodes' }).spec, client())
  assert.equal(engine.started.length, 2)
  ends[0]()
  assert.deepEqual(engine.stopped, [])
  ends[1]()
  assert.deepEqual(engine.stopped, [1])
  host.open(spec, client())
  assert.equal(engine.started.length, 3)
})

test('clients with token functions share a watch if their tokens or user names are equal', async () => {
  const as = (token, persist = false) => [specOf({ server: 'http://host', resource: 'pods', token: () => {}, persist }).spec, { ...client(), token }]
  const cases = [
    [as(() => 'jane'), as(async () => 'jane'), 1],
    [as(() => 'jane'), as(() => 'joe'), 2],
    [as(() => 'jane'), as(() => { throw new Error('signed out') }), 2],
    [as(() => 'old', 'jane'), as(() => 'new', 'jane'), 1],
    [as(() => 'old', 'jane'), as(() => 'old', 'joe'), 2],
  ]
  for (const [first, second, watches] of cases) {
    const { engine, host } = shared()
    const ends = [host.open(...first), host.open(...second)]
    await new Promise(setImmediate) // waits until all token functions have returned
    ends.forEach((end) => end())
    assert.equal(engine.started.length, watches)
    assert.deepEqual(engine.stopped.length, watches)
  }
})

test('a client that leaves before its token arrives does not start a watch', async () => {
  const { engine, host } = shared()
  let answer
  const asked = new Promise((resolve) => { answer = resolve })
  host.open({ ...spec, asks: true }, { ...client(), token: () => asked })()
  answer('jane')
  await asked
  await new Promise(setImmediate)
  assert.equal(engine.started.length, 0)
})

test('projections keep whole arrays for indexes of array elements', () => {
  const { engine, host } = shared()
  host.open(spec, client())
  assert.deepEqual(engine.started[0].spec.indexes, ['spec.containers[0].image', 'spec.nodeName']) // in the order of their names
  assert.deepEqual(engine.started[0].spec.needs, ['spec.containers[*].image', 'spec.nodeName'])
})

// Records that the first client receives before a second client joins.
const before = {
  'in the middle of a list': [[RESET], added('a', '', { values: ['n1', ''] }), [PAGE, '7', '']],
  'in the middle of a list of unknown length': [[RESET], added('a', '', { values: ['n1', ''] }), [PAGE, '0', 'next']],
  'saved and not confirmed': [[SAVED, ...fields('a', 1, { values: ['n1', ''] })], [RESET]],
  live: first(...Array.from({ length: 120 }, (_, i) => added(`pod-${i}`, i + 1, { values: ['n1', ''] }))),
  'live and empty': first(),
  interrupted: [...first(added('a', 1, { values: ['', ''] })), [INTERRUPTED, 'network', 'refused', '', '', '60000', '']],
  'interrupted before the first list': [[RESET], [INTERRUPTED, 'status', 'no', '500', 'Oops', '60000', '']],
}

for (const [words, records] of Object.entries(before)) {
  test(`a late client receives the same state: ${words}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1e12 })
    const { engine, host } = shared()
    const early = client(), late = client()
    host.open(spec, early)
    engine.started[0].tell(...records)
    t.mock.timers.setTime(1e12 + 5000)
    host.open(spec, late)
    await settled()
    const [is, was] = [late, early].map(({ mirror }) => ({
      ...mirror.state, progress: mirror.state.progress, cause: mirror.state.cause?.message, code: mirror.state.cause?.code, synced: mirror.synced,
      items: [...mirror.items.values()].map((item) => [item.key, item.resourceVersion, item.object, mirror.isStale(item)]),
      found: new Snapshot(mirror, mirror.state).by('node', 'n1').length,
    }))
    assert.deepEqual(is, was)
  })
}

test('records that arrive during a replay are delivered after it', async () => {
  const { engine, host } = shared()
  const early = client(), late = client()
  let tell
  host.open(spec, early)
  engine.started[0].tell(...first(added('a', 1), added('b', 1)))
  const asked = [...replay(early.mirror)]
  early.replay = () => new Promise((resolve) => { tell = () => resolve(asked) })
  host.open(spec, late)
  engine.started[0].tell([DELETED, 'default/a', '2', ''], added('c', 3))
  assert.equal(late.mirror.items.size, 0)
  tell()
  await settled()
  engine.started[0].tell(added('d', 4))
  assert.deepEqual([...late.mirror.items.keys()].sort(), ['default/b', 'default/c', 'default/d'])
  assert.equal(engine.started.length, 1)
})

test('an unresponsive client is skipped, and a new watch starts if no client replays its objects', async () => {
  const { engine, host } = shared()
  const frozen = client(), awake = client(), second = client()
  frozen.replay = () => Promise.reject(new ListWatchError('silent', 'no answer'))
  const ends = [host.open(spec, frozen), host.open(spec, awake)] // `awake` gets a new watch, because the frozen client cannot replay its objects
  await settled()
  assert.equal(engine.started.length, 2)
  engine.started[1].tell(...first(added('a', 1)))
  ends.push(host.open(spec, second))
  await settled()
  assert.equal(engine.started.length, 2)
  assert.deepEqual([...second.mirror.items.keys()], ['default/a'])
  awake.replay = frozen.replay
  const third = client()
  ends.push(host.open(spec, third))
  await settled()
  assert.deepEqual([...third.mirror.items.keys()], ['default/a'])
  assert.equal(engine.started.length, 2)
  ends.forEach((end) => end())
  assert.deepEqual(engine.stopped.sort(), [1, 2])
})

test('a client that leaves during a replay receives nothing, and the watch is stopped once', async () => {
  const { engine, host } = shared()
  const early = client(), late = client()
  const endEarly = host.open(spec, early)
  engine.started[0].tell(...first(added('a', 1)))
  host.open(spec, late)()
  await settled()
  assert.equal(late.mirror.items.size, 0)
  assert.equal(engine.started.length, 1)
  const end = host.open(spec, late)
  endEarly()
  assert.deepEqual(engine.stopped, [])
  await settled()
  end()
  assert.deepEqual(engine.stopped, [1])
})

test('a client that joins after a failure gets a new watch', async () => {
  const { engine, host } = shared()
  const refused = client()
  refused.replay = () => { throw new ListWatchError('closed', 'the collection is closed') }
  const end = host.open(spec, refused)
  engine.started[0].tell([STOPPED, 'forbidden', 'no', '403', 'Forbidden', '0', ''])
  const late = client()
  host.open(spec, late)
  await settled()
  assert.equal(engine.started.length, 2)
  end()
  assert.deepEqual(engine.stopped, [1])
  engine.started[1].tell(...first(added('a', 1)))
  assert.equal(late.mirror.state.phase, 'live')
  host.open(spec, client())
  await settled()
  assert.equal(engine.started.length, 2)
})

test('after a worker restart, only records from the new worker are replayed', () => {
  const { mirror, records } = client()
  const told = (unknown) => {
    const late = client()
    for (const bytes of replay(mirror, unknown)) late.records(bytes)
    return [late.mirror.state.phase, [...late.mirror.items.keys()], late.mirror.synced]
  }
  records(encode(first(added('a', 1), added('b', 1))))
  assert.deepEqual(told(), ['live', ['default/a', 'default/b'], true])
  records(encode([[INTERRUPTED, 'closed', 'the worker is gone', '', '', '0', '1']]))
  assert.deepEqual(told(new Set(['default/a', 'default/b'])), ['waiting', [], false])
  records(encode([[RESET], added('b', 2)]))
  assert.deepEqual(told(new Set(['default/a'])), ['listing', ['default/b'], false])
})

// Returns a client that never responds, like a frozen tab.
const frozen = () => ({ ...client(), replay: () => new Promise(() => {}) })
// Rejects like a call to a tab that does not respond in time.
const timedOut = () => Promise.reject(new ListWatchError('silent', 'no answer within 1000 ms'))

// Returns the spec of an unsaved collection that all tabs of a user share.
const oneUser = () => ({ ...specOf({ server: 'http://host', resource: 'pods', token: () => {} }).spec, persist: '' })

test('a tab that closes while another tab joins leaves no watch behind', async () => {
  const { engine, host } = shared()
  const early = client(), late = client()
  let refuse
  early.replay = () => new Promise((_, reject) => { refuse = reject })
  const endEarly = host.open(spec, early)
  engine.started[0].tell(...first(added('a', 1)))
  const endLate = host.open(spec, late)
  endEarly()
  refuse(new ListWatchError('closed', 'the page is gone'))
  await settled()
  assert.deepEqual([engine.started.length, engine.stopped], [2, [1]], 'the watch of the closed tab must stop')
  engine.started[1].tell(...first(added('b', 2)))
  assert.deepEqual([...late.mirror.items.keys()], ['default/b'])
  endLate()
  assert.equal(engine.open(), 0)
})

test('tabs that close in any order while other tabs join leave no watch behind', async () => {
  for (const order of [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]) {
    for (const answers of [false, true]) {
      const { engine, host } = shared()
      let settle
      const early = { ...client(), replay: () => new Promise((resolve, reject) => { settle = answers ? () => resolve([]) : () => reject(new ListWatchError('closed', 'gone')) }) }
      const ends = [early, client(), client()].map((each) => host.open(spec, each))
      ends[order[0]]()
      settle()
      await settled()
      ends[order[1]]()
      await settled()
      ends[order[2]]()
      await settled()
      assert.equal(engine.open(), 0, `${order} ${answers}`)
      host.open(spec, client())
      await settled()
      assert.equal(engine.open(), 1)
    }
  }
})

test('three tabs that open while another tab is frozen share one watch', async () => {
  const { engine, host } = shared()
  const asleep = { ...client(), replay: timedOut }, late = [client(), client(), client()]
  const ends = [asleep, ...late].map((each) => host.open(spec, each))
  await settled()
  assert.equal(engine.started.length, 2)
  engine.started[1].tell(...first(added('a', 1)))
  await settled()
  for (const { mirror } of late) assert.deepEqual([...mirror.items.keys()], ['default/a'])
  ends.forEach((end) => end())
  assert.equal(engine.open(), 0)
})

test('an unresponsive tab is asked last for replays and tokens', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked = []
  const tab = (name, answer) => ({ ...client(), token: () => { asked.push(`token ${name}`); return answer() },
    replay: () => { asked.push(`replay ${name}`); return answer() === 'jane' ? Promise.resolve([]) : timedOut() } })
  const { engine, host } = shared()
  const group = oneUser()
  let asleep = false
  host.open(group, tab('a', () => (asleep ? new Promise(() => {}) : 'jane')))
  host.open(group, tab('b', () => 'jane'))
  await settled()
  asleep = true
  host.open(group, tab('c', () => 'jane'))
  await settled()
  asked.length = 0
  const ask = async () => {
    const answer = engine.started[0].sink.token()
    await settled()
    t.mock.timers.tick(1000)
    await settled()
    return answer
  }
  // The host asks tab c first, because c joined last.
  assert.equal(await ask(), 'jane')
  assert.deepEqual(asked, ['token c'])
  asked.length = 0
  host.open(group, tab('d', () => 'jane'))
  await settled()
  assert.deepEqual(asked, ['replay c'])
  assert.equal(engine.started.length, 1)
})

test('a tab that fails to return a token within a second is asked last from then on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked = []
  let wake
  const { engine, host } = shared()
  const group = oneUser()
  host.open(group, { ...client(), token: () => { asked.push('awake'); return 'jane' } })
  host.open(group, { ...client(), token: () => { asked.push('asleep'); return new Promise((resolve) => { wake = resolve }) } })
  await settled()
  const { token } = engine.started[0].sink
  const first = token()
  await settled()
  assert.deepEqual(asked, ['asleep'])
  t.mock.timers.tick(1000)
  assert.equal(await first, 'jane')
  assert.equal(await token(), 'jane')
  assert.deepEqual(asked, ['asleep', 'awake', 'awake'])
  wake('late')
})

test('the error of a token function that fails late is reported', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { engine, host } = shared()
  let fail
  host.open(oneUser(), { ...client(), token: () => new Promise((resolve, reject) => { fail = reject }) })
  await settled()
  const token = engine.started[0].sink.token()
  await settled()
  t.mock.timers.tick(1000)
  await settled()
  fail(new Error('the login expired'))
  await assert.rejects(token, /the login expired/)
})

test('a failed watch is reported to current and joining clients, and the next client gets a new watch', async () => {
  const { engine, host } = shared()
  const failures = []
  const tab = (name) => ({ ...frozen(), failed: ({ message }) => failures.push(`${name} ${message}`) })
  const ends = [host.open(spec, tab('a')), host.open(spec, tab('b'))]
  engine.started[0].sink.failed(new Error('crashed'))
  assert.deepEqual(failures, ['a crashed', 'b crashed'])
  const late = client()
  host.open(spec, late)
  engine.started[1].tell(...first(added('a', 1)))
  assert.equal(late.mirror.state.phase, 'live')
  ends.forEach((end) => end())
  assert.equal(engine.open(), 1)
})

test('a tab that cannot receive records gets an error, and other tabs are not affected', async () => {
  const { engine, host } = shared()
  const failures = []
  const end = host.open(spec, client())
  engine.started[0].tell(...first(added('a', 1)))
  host.open(spec, { ...client(), records() { throw new Error('could not be cloned') }, failed: ({ code, message }) => failures.push([code, message]) })
  await settled()
  assert.equal(failures.length, 1)
  assert.match(failures[0].join(), /crashed,.*could not be joined: could not be cloned/)
  engine.started[0].tell(added('b', 2))
  end()
  assert.equal(engine.open(), 0)
})
