// Tests the package in Node against the embedded server.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { after, before, test } from 'node:test'
import { listWatch, wake } from '../index.js'
import { Slots } from '../slots.js'
import { serve, until } from './support.mjs'

let server, guarded
before(async () => { [server, guarded] = await Promise.all([serve(), serve({ tokens: { good: true, weak: false } })]) })
after(() => Promise.all([server.close(), guarded.close()]))

let last = 0
const namespace = () => `space-${++last}` // each test uses its own namespace
const put = (space, name, more = {}) => server.put('pods', { metadata: { name, namespace: space, ...more.metadata }, spec: more.spec })
function follow(t, options) {
  const followed = listWatch({ server: server.url, resource: 'pods', ...options })
  t.after(() => followed.close())
  return followed
}
const live = (followed) => until(() => followed.state.phase === 'live')

test('a collection is listed and then watched', async (t) => {
  const space = namespace()
  await put(space, 'web-0', { spec: { nodeName: 'n1' } })
  const pods = follow(t, { namespace: space })
  assert.equal(pods.state.phase, 'waiting')
  const seen = []
  const reading = (async () => {
    for await (const { type, key, initial, stale, finalStateUnknown, old, object } of pods) {
      seen.push([type, key, initial, stale, finalStateUnknown, old?.spec?.nodeName, object.spec?.nodeName].join(' '))
      if (seen.length === 4) break
    }
  })()
  await pods.synced
  assert.equal(pods.get(`${space}/web-0`).spec.nodeName, 'n1')
  await live(pods)
  await until(() => seen.length === 1)
  await put(space, 'web-0', { spec: { nodeName: 'n2' } })
  await until(() => seen.length === 2)
  await put(space, 'web-1', { spec: { nodeName: 'n1' } })
  await until(() => seen.length === 3)
  await server.deletePod(space, 'web-0')
  await reading
  assert.deepEqual(seen, [
    `added ${space}/web-0 true false false  n1`,
    `modified ${space}/web-0 false false false n1 n2`,
    `added ${space}/web-1 false false false  n1`,
    `deleted ${space}/web-0 false false false n2 n2`,
  ])
  assert.deepEqual([pods.size, pods.list().map(({ key }) => key)], [1, [`${space}/web-1`]])
  assert.ok(pods.state.lastEventAt > 0 && pods.state.resourceVersion > 0)
})

test('a watch requests a free slot, and waits if all slots are busy', async (t) => {
  const asked = []
  t.mock.method(Slots.prototype, 'acquire', async (url, waits) => {
    asked.push([url, waits])
    return waits ? { text: 'slot', revoked: new Promise(() => {}) } : 'busy'
  })
  const space = namespace()
  await put(space, 'web-0') // without this Pod, the client would follow the empty streaming list with a list and another watch
  const pods = follow(t, { namespace: space, transport: 'http' })
  await live(pods)
  await put(space, 'web-1')
  await until(() => pods.size === 2) // the watch has delivered an event
  assert.deepEqual(asked.map(([url, waits]) => [new URL(url).origin, waits]), [[server.url, false], [server.url, true]])
})

test('an object recreated while the watch was down is reported as deleted and added', async (t) => {
  const space = namespace()
  for (const name of ['a', 'b']) await put(space, name)
  const pods = follow(t, { namespace: space })
  await pods.synced
  await live(pods)
  const { uid } = pods.item(`${space}/a`), seen = [], batches = []
  pods.subscribe((changes) => batches.push(...changes))
  const reading = (async () => {
    for await (const { type, item, finalStateUnknown, initial } of pods) {
      if (!initial) seen.push([type, item.name, item.uid === uid, finalStateUnknown].join(' '))
      if (seen.length === 3) break
    }
  })()
  await server.command('stop')
  await until(() => pods.state.phase === 'stale')
  await server.deletePod(space, 'a')
  await put(space, 'a')
  await server.command('compact')
  await server.command('restart')
  wake()
  await live(pods)
  await put(space, 'c')
  await reading
  const expected = ['deleted a true true', 'added a false false', 'added c false false']
  assert.deepEqual(seen, expected)
  assert.deepEqual(batches.map(({ type, item, finalStateUnknown }) => [type, item.name, item.uid === uid, finalStateUnknown].join(' ')), expected)
})

test('an index reads fields and array elements, even if the projection drops them', async (t) => {
  const space = namespace()
  const spec = (nodeName, image) => ({ nodeName, priority: 7, containers: [{ name: 'c', image }, { name: 'd', image: 'sidecar' }] })
  await put(space, 'a', { spec: spec('n1', 'web:1') })
  await put(space, 'b', { spec: spec('n2', 'web:1') })
  for (const project of [undefined, ['spec.priority']]) {
    const pods = follow(t, { namespace: space, project, indexes: { node: 'spec.nodeName', image: 'spec.containers[0].image' } })
    await pods.synced
    const names = (index, value) => pods.by(index, value).map(({ name }) => name).join(' ')
    assert.deepEqual([names('node', 'n1'), names('image', 'web:1'), names('image', 'sidecar')], ['a', 'a b', ''])
    assert.equal(pods.get(`${space}/a`).spec.containers[0].name, project ? undefined : 'c')
    assert.equal(pods.get(`${space}/a`).spec.priority, 7)
  }
})

test('a projection keeps only the selected fields of each object', async (t) => {
  const space = namespace()
  await put(space, 'a', { spec: { nodeName: 'n1', hostname: 'h' } })
  const pods = follow(t, { namespace: space, project: ['spec.nodeName'] })
  await pods.synced
  const { metadata: { name }, spec } = pods.get(`${space}/a`)
  assert.deepEqual([name, spec], ['a', { nodeName: 'n1' }])
})

test('an invalid path is rejected in a projection and in an index', async (t) => {
  for (const options of [{ project: ['spec..a'] }, { indexes: { a: 'spec..a' } }]) {
    await assert.rejects(follow(t, options).synced, { code: 'invalid', message: /path "spec\.\.a"/ })
  }
})

test('a custom resource can be opened by group and version, or by path', async (t) => {
  await server.put('widgets.lw.example.com', { metadata: { name: 'w', namespace: 'default' } })
  for (const options of [{ resource: 'lw.example.com/v1/widgets' }, { resource: undefined, path: '/apis/lw.example.com/v1/widgets' }]) {
    const widgets = follow(t, options)
    await widgets.synced
    assert.equal(widgets.get('default/w').kind, 'Widget')
  }
})

test('a selector or a name restricts the collection', async (t) => {
  const space = namespace()
  await put(space, 'a', { metadata: { labels: { app: 'web' } } })
  await put(space, 'b')
  for (const options of [{ labelSelector: 'app=web' }, { fieldSelector: 'metadata.name=a' }, { name: 'a' }]) {
    const pods = follow(t, { namespace: space, ...options })
    await pods.synced
    assert.deepEqual(pods.list().map(({ name }) => name), ['a'], JSON.stringify(options))
  }
})

test('the error for an unknown token or a token without permissions contains the status and the reason', async (t) => {
  for (const [token, status, reason, code] of [['none', 401, 'Unauthorized', 'unauthorized'], ['weak', 403, 'Forbidden', 'forbidden']]) {
    const pods = follow(t, { server: guarded.url, token })
    await assert.rejects(pods.synced, { name: 'ListWatchError', code, status, reason, retryable: false })
    assert.equal(pods.state.phase, 'stopped')
  }
})

test('a selector that the server rejects causes a permanent error', async (t) => {
  for (const options of [{ labelSelector: '((' }, { fieldSelector: 'foo=bar' }]) {
    const pods = follow(t, options)
    await assert.rejects(pods.synced, { code: 'invalid', status: 400, reason: 'BadRequest', retryable: false })
  }
})

test('a token function is called for every request and again after a 401 response', async (t) => {
  const tokens = ['none', 'good']
  let asked = 0
  const pods = follow(t, { server: guarded.url, token: async () => tokens[Math.min(asked++, 1)] })
  await pods.synced
  assert.ok(asked >= 2)
})

test('an exception in a token function is reported in the state, and the function is called again', async (t) => {
  let asked = 0
  const pods = follow(t, { server: guarded.url, token: () => {
    if (!asked++) throw new Error('the login has expired')
    return 'good'
  } })
  await until(() => pods.state.cause)
  assert.match(pods.state.cause.message, /the login has expired/)
  await pods.synced
})

test('a missing resource causes a permanent error', async (t) => {
  await assert.rejects(follow(t, { resource: 'example.com/v1/gizmos' }).synced, { code: 'not-found', status: 404 })
})

test('a response that is not a collection causes a permanent error, but temporary errors are retried', async (t) => {
  const list = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}'
  const answers = {
    '/version': [200, '{"major":"1","minor":"36"}'], '/pod': [200, '{"kind":"Pod","metadata":{"name":"a"}}'], '/page': [200, '<!DOCTYPE html>'],
    '/bad-gateway': [502, '<html>'], '/away': [503, '<html>'], '/cut': [200, list.slice(0, -2)], '/nothing': [200, ''],
  }
  const others = createServer(({ url }, response) => {
    const [status, body] = answers[new URL(url, 'http://x').pathname]
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  t.after(() => others.close())
  await once(others, 'listening')
  for (const streamingLists of [true, false]) {
    const at = (path) => follow(t, { server: `http://127.0.0.1:${others.address().port}`, resource: undefined, path, streamingLists })
    for (const path of ['/version', '/pod', '/page']) {
      const followed = at(path)
      await assert.rejects(followed.synced, { name: 'ListWatchError', code: 'invalid', retryable: false, message: /expected a list/ }, path)
      assert.equal(followed.state.phase, 'stopped')
    }
    for (const path of ['/bad-gateway', '/away', '/cut', '/nothing']) {
      const followed = at(path)
      await until(() => followed.state.cause)
      assert.deepEqual([followed.state.phase, followed.state.cause.retryable], ['waiting', true], path)
    }
  }
})

test('a server that rejects streaming lists is listed', async (t) => {
  const old = createServer(({ url }, response) => {
    const query = new URL(url, 'http://x').searchParams
    if (query.has('sendInitialEvents')) response.writeHead(422).end('{"kind":"Status","status":"Failure","reason":"Invalid","code":422}')
    else if (query.has('watch')) response.writeHead(200).flushHeaders()
    else response.end('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","namespace":"b"}}]}')
  }).listen(0, '127.0.0.1')
  t.after(() => { old.closeAllConnections(); old.close() })
  await once(old, 'listening')
  const pods = follow(t, { server: `http://127.0.0.1:${old.address().port}` })
  await pods.synced
  assert.equal(pods.size, 1)
})

test('no change is missed after clean closes, broken connections and lost history', async (t) => {
  // A clean close is an interruption if the next watch does not open within five seconds, which collection.test.mjs checks. Here
  // this time never ends, because the server may be too slow on a busy machine.
  const start = globalThis.setTimeout
  t.mock.method(globalThis, 'setTimeout', (f, ms, ...more) => (ms === 5000 ? undefined : start(f, ms, ...more)))
  const space = namespace()
  await put(space, 'a')
  const pods = follow(t, { namespace: space })
  await live(pods)
  const phases = [], missed = []
  pods.subscribe((changes) => {
    phases.push(pods.state.phase)
    missed.push(...changes.filter((change) => change.finalStateUnknown).map(({ key }) => key))
  })
  await put(space, 'b')
  await until(() => pods.size === 2) // the watch has delivered an event, so its end is not an interruption
  await server.command('end')
  await put(space, 'b2')
  await until(() => pods.size === 3)
  assert.ok(phases.every((phase) => phase === 'live'), 'a clean close must not change the phase')
  await server.command('stop')
  await until(() => pods.state.phase === 'stale')
  assert.ok(pods.state.cause.retryable && pods.state.retryAt > 0)
  await server.deletePod(space, 'a')
  await server.command('restart')
  await until(() => missed.length > 0)
  assert.deepEqual([missed, pods.size], [[`${space}/a`], 2])
  await live(pods)
})

test('after 1,000 writes, the collection equals the server\'s state', async (t) => {
  const space = namespace()
  const pods = follow(t, { namespace: space })
  const fold = new Map()
  pods.subscribe((changes) => changes.forEach(({ type, key, item }) => (type === 'deleted' ? fold.delete(key) : fold.set(key, item.resourceVersion))))
  const there = new Set()
  for (let i = 0; i < 1000; i++) {
    const name = `pod-${(i * 7919) % 97}`
    if (there.has(name) && i % 3 === 0) {
      there.delete(name)
      await server.deletePod(space, name)
    } else {
      there.add(name)
      await put(space, name, { spec: { i } })
    }
    if (i % 250 === 0) await server.command('drop')
  }
  const { items } = await (await fetch(`${server.url}/api/v1/namespaces/${space}/pods`)).json()
  const is = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`).sort()
  await until(() => pods.list().map(({ key, resourceVersion }) => `${key} ${resourceVersion}`).join() === is.join())
  await until(() => [...fold].map((entry) => entry.join(' ')).sort().join() === is.join())
})

test('closing a collection ends its watch on the server', async (t) => {
  const space = namespace()
  await put(space, 'web-0') // without this Pod, the client would replace its watch, and the server could count both watches
  const pods = follow(t, { namespace: space })
  await live(pods)
  await until(async () => await server.command('watching') === 1) // the server may still count the watches of earlier tests
  pods.close()
  await until(async () => await server.command('watching') === 0)
})

for (const [words, url] of [['while it is live', () => server.url], ['while it waits for a retry', () => 'http://127.0.0.1:9']]) {
  test(`closing a collection ${words} lets the process exit`, async () => {
    await put(namespace(), 'a')
    const child = spawn(process.execPath, [fileURLToPath(new URL('./exit.mjs', import.meta.url)), url(), words.endsWith('retry') ? 'x' : []].flat(),
      { stdio: ['ignore', 'pipe', 'inherit'] })
    const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stdout)])
    assert.equal(code, 0)
    assert.notEqual(said, '')
  })
}

test('wake() skips the delay before the next attempt', async (t) => {
  let tries = 0
  const away = createServer(({ socket }) => {
    tries++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  t.after(() => away.close())
  await once(away, 'listening')
  const pods = follow(t, { server: `http://127.0.0.1:${away.address().port}` })
  await until(() => pods.state.cause)
  assert.equal(pods.state.phase, 'waiting')
  await until(() => { // without wake, the delays of up to 30 seconds would take minutes
    wake()
    return tries >= 12
  })
})
