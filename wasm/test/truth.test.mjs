// Tests that a collection never shows objects of another server or collection as live.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listWatch, wake } from '../index.js'
import { Locks, Slots } from '../slots.js'
import { ApiServer, REBUILT } from './apiserver.mjs'
import { serve, until } from './support.mjs'

const RESOURCES = { pods: ['/api/v1/pods', 'Pod'], 'example.com/v1/gadgets': ['/apis/example.com/v1/gadgets', 'Gadget'] }

/** Starts a server and opens its collection. `shown` contains the state after each batch, for example "live uid,uid".
 * A uid contains the resourceVersion at which the cluster was built, so 1000 marks an object of the first cluster.
 */
async function opened(t, resource = 'pods', instead) {
  const [path, kind] = RESOURCES[resource], server = new ApiServer(path, instead)
  server.rebuild({ kind, version: 1000, names: ['a', 'b'] })
  await server.start()
  t.after(() => server.stop())
  const collection = listWatch({ server: server.url, resource, streamingLists: false })
  t.after(() => collection.close())
  return { server, collection, shown: record(collection) }
}

function record(collection) {
  const shown = []
  collection.subscribe(() => shown.push(words(collection)))
  return shown
}

/** @param {import('../types.js').ListWatch} collection */
const words = (collection) => `${collection.state.phase} ${collection.list().map(({ uid }) => uid).join()}`
const isLiveWith = (collection, server) => words(collection) === `live ${server.objects.map(({ metadata }) => metadata.uid).join()}`
/** Waits like liveWith. It wakes the engine repeatedly, because a wake during a request does not shorten the next delay. */
const recovered = (collection, server) => until(() => {
  wake()
  return isLiveWith(collection, server)
})
const liveWith = (collection, server) => until(() => isLiveWith(collection, server))

for (const [difference, rebuilt] of Object.entries(REBUILT)) {
  test(`the objects of a server are replaced within 10 s after it was rebuilt with ${difference}`, async (t) => {
    const { server, collection, shown } = await opened(t)
    await liveWith(collection, server)
    await server.stop()
    await until(() => collection.state.phase === 'stale')
    shown.length = 0
    server.rebuild(rebuilt)
    await server.start()
    wake()
    const waited = await liveWith(collection, server)
    assert.ok(waited < 10_000, `live after ${waited} ms`)
    assert.deepEqual(shown.filter((each) => /^(live|listing) .*\b1000\b/.test(each)), [])
    assert.equal(server.requests.filter((request) => request === 'check').length, 1, `${server.requests}`)
  })
}

test('a restarted server with the same objects is checked with one request, and is not relisted', async (t) => {
  const { server, collection, shown } = await opened(t)
  await liveWith(collection, server)
  await server.stop()
  await until(() => collection.state.phase === 'stale')
  shown.length = 0
  await server.start()
  wake()
  await liveWith(collection, server)
  assert.deepEqual(server.requests, ['check', 'watch 1000'])
  server.create('c')
  await liveWith(collection, server)
})

for (const [words, absent] of [['after its definition was missing', true], ['at once', false]]) {
  test(`a custom resource is followed again when it returns with another kind ${words}`, async (t) => {
    let missing = false
    const { server, collection, shown } = await opened(t, 'example.com/v1/gadgets', (url) => (missing && url.pathname === RESOURCES['example.com/v1/gadgets'][0] ? [404, NOT_FOUND] : undefined))
    await liveWith(collection, server)
    missing = absent
    server.rebuild({ kind: 'Gizmo', version: 2000, names: ['c'] })
    await server.restart()
    if (absent) {
      await until(() => {
        wake()
        return server.requests.includes('list')
      })
      await until(() => collection.state.cause?.code === 'not-found')
      assert.equal(collection.state.phase, 'stale')
      missing = false
    }
    await recovered(collection, server)
    server.create('d')
    await liveWith(collection, server)
    assert.deepEqual(shown.filter((each) => /^live .*\b1000\b.*2000/.test(each)), [])
  })
}

const NOT_FOUND = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' }
const foreign = (kind, apiVersion) => ({ kind: `${kind}List`, apiVersion, metadata: { resourceVersion: '3000' }, items: [{ metadata: { namespace: 'default', name: 'foreign', uid: 'foreign', resourceVersion: '3000' } }] })
const PORTALS = {
  'an empty list of another kind': { ...foreign('Service', 'v1'), items: [] },
  'objects of another kind': foreign('Service', 'v1'),
  'objects of another group': foreign('Pod', 'example.org/v1'),
  'metadata': foreign('PartialObjectMetadata', 'meta.k8s.io/v1'),
}
for (const [words, list] of Object.entries(PORTALS)) {
  for (const resource of Object.keys(RESOURCES)) {
    test(`a portal that repeatedly answers with ${words} does not replace the objects of ${resource}`, async (t) => {
      let portal = false, answers = 0
      const { server, collection, shown } = await opened(t, resource, () => (portal && answers++ >= 0 ? [200, list] : undefined))
      await liveWith(collection, server)
      portal = true
      await server.restart()
      await until(() => {
        wake()
        return answers >= 2 && shown.at(-1)?.startsWith('stale ')
      })
      shown.length = 0 // a page whose watch was closed cleanly stays live for up to five seconds
      await until(() => {
        wake()
        return answers >= 6
      })
      // A watch is live from its header until its first event, so a busy machine may show it as live before it turns stale.
      const during = shown.filter((each, i) => !each.startsWith('live ') || shown[i + 1]?.startsWith('live '))
      portal = false
      server.create('c')
      await recovered(collection, server)
      assert.deepEqual(shown.filter((each) => !/\ba 1000,b 1000\b/.test(each) || /foreign/.test(each)), [])
      assert.deepEqual(during.filter((each) => /^(?!stale )/.test(each)), [])
    })
  }
}

test('a list of another kind that comes first is replaced when the server names the kind', async (t) => {
  let portal = true
  const list = { ...foreign('Portal', 'example.com/v1'), items: [] }
  const { server, collection } = await opened(t, 'example.com/v1/gadgets', (url) => (portal ? [url.searchParams.has('watch') ? 503 : 200, list] : undefined))
  await until(() => collection.state.cause)
  assert.equal(collection.state.phase, 'stale')
  portal = false
  await server.restart()
  await recovered(collection, server)
})

test('a list of another kind that comes first for a built-in resource stops the collection', async (t) => {
  const { collection } = await opened(t, 'pods', () => [200, PORTALS['objects of another kind']])
  await assert.rejects(collection.synced, { code: 'invalid', message: /expected a list/ })
  assert.deepEqual([collection.state.phase, collection.size], ['stopped', 0])
})

// The host in Node limits no connections, so the test gives it the slots of a page without Web Locks. The class observes
// nothing, so the slots never learn that the server speaks HTTP/2, and there are only two of them for four watches.
test('watches that take turns survive restarts of the server', async (t) => {
  const slots = new Slots(new Locks(), class { observe() {} })
  const { acquire } = Slots.prototype
  t.mock.method(Slots.prototype, 'acquire', (...args) => acquire.apply(slots, args))
  const server = await serve()
  t.after(() => server.close())
  const put = (name) => Promise.all(SPACES.map((namespace) => server.put('pods', { metadata: { name, namespace } })))
  await put('first')
  const all = SPACES.map((namespace) => listWatch({ server: server.url, resource: 'pods', namespace, transport: 'http', streamingLists: false }))
  t.after(() => all.forEach((collection) => collection.close()))
  const settled = (size) => until(() => {
    wake() // skips the backoff, which grows with each restart
    return all.every(({ state, size: n }) => state.phase === 'live' && n === size)
  })
  await settled(1)
  await until(() => all.some(({ state }) => state.cause?.code === 'turns'))
  for (let round = 0; round < 2; round++) {
    const asked = await server.command('requests')
    await until(async () => await server.command('requests') > asked + 6) // more than one per watch: quiet watches repeat their request in several turns
    await server.command('stop')
    await until(() => all.every(({ state }) => state.phase === 'stale' && state.cause.code === 'network'))
    await put(`round-${round}`)
    await server.command('restart')
    await settled(round + 2)
  }
  const codes = all.map(({ state }) => state.cause?.code)
  assert.ok(codes.every((code) => code === undefined || code === 'turns'), `${codes}`)
})

const SPACES = ['a', 'b', 'c', 'd']
