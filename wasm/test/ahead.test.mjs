import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { Ahead } from '../ahead.js'
import { Engine } from '../engine.js'
import { Host } from '../host.js'
import { Channel, PROTOCOL } from '../messages.js'
import { LIVE, STOPPED, SYNCED, decode } from '../records.js'
import { specOf } from '../spec.js'
import { PENDING } from '../streams.js'
import { browser } from './browser.mjs'
import { until } from './support.mjs'

const module = readFileSync(new URL('../listwatch.wasm', import.meta.url))

// Starts a server with empty collections and with the WASM module, which it sends after `release` was called. `requests`
// contains the lists, and `aborted` counts those that the client has aborted. With `hold`, the server does not answer lists.
async function serve(t, hold = false) {
  const at = { requests: [], aborted: 0 }
  const released = new Promise((resolve) => { at.release = resolve })
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://host')
    if (pathname === '/wasm') return void released.then(() => response.end(module))
    if (searchParams.has('watch')) return response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders()
    at.requests.push(request)
    response.on('close', () => { at.aborted += response.writableEnded ? 0 : 1 })
    const [, apiVersion, plural] = /\/apis?\/(.*?)(?:\/namespaces\/[^/]+)?\/(\w+)$/.exec(pathname)
    response.statusCode = at.status ?? 200
    const kind = { pods: 'PodList', deployments: 'DeploymentList', widgets: 'WidgetList' }[plural]
    if (!hold) response.end(JSON.stringify({ kind, apiVersion, metadata: { resourceVersion: '7' }, items: [] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  at.url = `http://127.0.0.1:${server.address().port}`
  return at
}

// A client that collects the kinds of its records.
const recorder = () => {
  const kinds = []
  return { kinds, records: (bytes) => decode(bytes, (kind) => kinds.push(kind)), failed: (error) => kinds.push(error), token: () => 'secret' }
}

// Each row contains options, and whether the list is requested ahead. If the module's request differed, the server would
// receive two.
const rows = [
  [{ resource: 'pods' }, true],
  [{ resource: 'pods', namespace: 'shop' }, true],
  [{ resource: 'apps/v1/deployments', namespace: 'shop', labelSelector: 'app in (a,b), !c~d', fieldSelector: 'spec.x=a b+*é' }, true],
  [{ resource: 'example.com/v1alpha1/widgets', token: 'abc', headers: { 'X-B': '1', 'x-a': '2, 3' }, credentials: 'include' }, true],
  [{ resource: 'pods', project: ['spec.nodeName'], indexes: { node: 'spec.nodeName' }, maxObjects: 9, transport: 'http' }, true],
  [{ resource: 'pods', name: 'web' }, false],
  [{ resource: 'pods', persist: true }, false],
  [{ resource: 'pods', token: async () => 'abc' }, false],
  [{ resource: 'pods', project: ['metadata.managedFields'] }, false],
  [{ resource: 'pods', streamingLists: true }, false],
  [{ resource: 'nosuch' }, false],
  [{ path: '/api/v1/pods' }, false],
  [{ resource: 'pods', headers: { Accept: 'application/json' } }, true],
  [{ resource: 'pods', namespace: '..' }, false],
  [{ resource: '../../..' }, false],
  [{ resource: 'pods', namespace: '\ud800' }, false],
]
for (const [options, expected] of rows) {
  test(`a list is ${expected ? '' : 'not '}requested ahead: ${JSON.stringify(options)}`, async (t) => {
    const server = await serve(t), ahead = new Ahead(), client = recorder()
    const { spec } = specOf({ server: `${server.url}/base/`, streamingLists: false, ...options })
    ahead.request(spec)
    const engine = await Engine.load(module, ahead)
    if (expected) await until(() => server.requests.length === 1)
    assert.equal(server.requests.length, expected ? 1 : 0)
    if (options.persist || options.streamingLists) return
    const end = new Host(engine).open(spec, client)
    t.after(end)
    await until(() => client.kinds.includes(LIVE) || client.kinds.includes(STOPPED) || client.kinds[0] instanceof Error)
    const valid = !/nosuch|\.\./.test(options.resource + options.namespace)
    assert.equal(server.requests.length, valid ? 1 : 0)
    assert.equal(client.kinds.includes(SYNCED), valid)
  })
}

test('the module repeats a request that has failed before it was loaded', async (t) => {
  const server = await serve(t), ahead = new Ahead(), client = recorder()
  server.status = 403
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false })
  const fetched = t.mock.method(globalThis, 'fetch')
  ahead.request(spec)
  await fetched.mock.calls[0].result // otherwise the module could take the request before it has failed
  assert.equal(server.requests.length, 1)
  server.status = 200 // for example because the user has signed in
  const engine = await Engine.load(module, ahead)
  t.after(new Host(engine).open(spec, client))
  await until(() => client.kinds.includes(LIVE))
  assert.equal(server.requests.length, 2)
})

test('the module receives the response of an overloaded server, so that it waits as long as the server asks', async () => {
  const server = createServer((_, response) => response.writeHead(429, { 'Retry-After': '3' }).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ahead = new Ahead()
  const { spec } = specOf({ server: `http://127.0.0.1:${server.address().port}`, resource: 'pods', streamingLists: false })
  let sent
  server.on('request', (request) => { sent = request })
  ahead.request(spec)
  await until(() => sent)
  const response = ahead.take(spec.endpoint.server + sent.url, [['Accept', sent.headers.accept]], '', () => {})
  await until(() => response.state !== PENDING)
  assert.deepEqual([response.state, response.retryAfter], [429, '3'])
  server.close()
})

test('requests of different users are not mixed up', async (t) => {
  const server = await serve(t, true), ahead = new Ahead()
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false, token: 'jane' })
  ahead.request(spec)
  const { url, headers } = server.requests[0] ?? await until(() => server.requests.length).then(() => server.requests[0])
  const given = [['Accept', headers.accept], ['Authorization', 'Bearer jane']]
  const take = (headers, credentials = '') => ahead.take(server.url + url, headers, credentials, () => {})
  assert.equal(take([given[0], ['Authorization', 'Bearer joe']]), undefined)
  assert.equal(take(given.slice(0, 1)), undefined)
  assert.equal(take(given, 'include'), undefined)
  assert.ok(take(given.toReversed()))
  assert.equal(take(given), undefined, 'a response can be taken only once')
})

test('a list that nobody takes is read only up to a limit, and cancelled', async (t) => {
  let sent = 0
  const server = createServer(async (request, response) => {
    const block = Buffer.alloc(1 << 20, ' ')
    response.setMaxListeners(0)
    while (!response.destroyed) {
      sent += block.length
      if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const ahead = new Ahead()
  const { spec } = specOf({ server: `http://127.0.0.1:${server.address().port}`, resource: 'pods', streamingLists: false })
  const cancel = ahead.request(spec)
  ahead.request(spec) // is not sent again
  await until(() => sent >= 2 << 20)
  for (let before = -1; before !== sent;) { // until the server cannot send more
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.ok(sent < 26 << 20, `${sent} bytes`)
  const connections = () => new Promise((resolve) => server.getConnections((_, n) => resolve(n)))
  assert.equal(await connections(), 1)
  cancel()
  await until(async () => await connections() === 0)
})

async function connected(t) {
  const at = browser(t), { port1, port2 } = new MessageChannel()
  at.ports.push(port1, port2)
  const connect = await at.run()
  connect(port2)
  const kinds = []
  const channel = new Channel(port1, { records: ({ bytes }) => decode(bytes, (kind) => kinds.push(kind)), failed() {}, broken: assert.fail }, assert.fail)
  await channel.call({ type: 'hello', protocol: PROTOCOL, lock: '' })
  return { channel, kinds }
}

test('a worker requests lists before it has loaded the module', async (t) => {
  const server = await serve(t), { channel, kinds } = await connected(t)
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false })
  const loaded = channel.call({ type: 'load', wasm: `${server.url}/wasm` })
  channel.send({ type: 'open', collection: 1, spec })
  channel.send({ type: 'open', collection: 2, spec: { ...spec, resource: 'nosuch' } }) // must not disturb the other one
  await until(() => server.requests.length === 1)
  server.release()
  await loaded
  await until(() => kinds.includes(LIVE))
  assert.equal(server.requests.length, 1)
  channel.send({ type: 'close', collection: 1 })
  await channel.call({ type: 'load', wasm: '' }) // until the collection is closed, because its retries would keep this process running
})

test('a collection that is closed before the module is loaded aborts its request and is not opened', async (t) => {
  const server = await serve(t, true), { channel, kinds } = await connected(t)
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false })
  const loaded = channel.call({ type: 'load', wasm: `${server.url}/wasm` })
  channel.send({ type: 'open', collection: 1, spec })
  await until(() => server.requests.length === 1)
  channel.send({ type: 'close', collection: 1 })
  await until(() => server.aborted === 1)
  server.release()
  await loaded
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  assert.deepEqual([server.requests.length, kinds], [1, []])
})

test('collections with equal lists share no response', async (t) => {
  const server = await serve(t), { channel, kinds } = await connected(t)
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false })
  const loaded = channel.call({ type: 'load', wasm: `${server.url}/wasm` })
  channel.send({ type: 'open', collection: 1, spec })
  channel.send({ type: 'open', collection: 2, spec: { ...spec, indexes: { node: 'spec.nodeName' } } })
  await until(() => server.requests.length === 1)
  server.release()
  await loaded
  await until(() => kinds.filter((kind) => kind === LIVE).length === 2)
  assert.equal(server.requests.length, 2)
  for (const collection of [1, 2]) channel.send({ type: 'close', collection })
  await channel.call({ type: 'load', wasm: '' })
})

test('a request that the module does not take is cancelled after a while', async (t) => {
  const start = setTimeout, due = []
  t.mock.method(globalThis, 'setTimeout', (f, ms, ...more) => (ms === 5000 ? due.push(f) : start(f, ms, ...more)))
  const server = await serve(t, true), { channel, kinds } = await connected(t)
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false, indexes: { node: 'spec[' } }) // an invalid path, which the module rejects
  const loaded = channel.call({ type: 'load', wasm: `${server.url}/wasm` })
  channel.send({ type: 'open', collection: 1, spec })
  await until(() => server.requests.length === 1)
  server.release()
  await loaded
  await until(() => kinds.includes(STOPPED))
  assert.equal(server.aborted, 0)
  assert.equal(due.length, 1)
  due[0]()
  await until(() => server.aborted === 1)
  assert.equal(server.requests.length, 1)
})

test('a closed collection leaves no response for the next user', async (t) => {
  const server = await serve(t, true), { channel, kinds } = await connected(t)
  const { spec } = specOf({ server: server.url, resource: 'pods', streamingLists: false, credentials: 'include' })
  const loaded = channel.call({ type: 'load', wasm: `${server.url}/wasm` })
  channel.send({ type: 'open', collection: 1, spec: { ...spec, indexes: { node: 'spec[' } } })
  await until(() => server.requests.length === 1)
  server.release()
  await loaded
  await until(() => kinds.includes(STOPPED))
  channel.send({ type: 'close', collection: 1 })
  await until(() => server.aborted === 1)
})
