// Tests the package with malicious responses: the error code, the number of bytes that the server sends, and the memory.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as listenRaw } from 'node:net'
import { after, test } from 'node:test'
import { brotliCompressSync, createGzip, constants } from 'node:zlib'
import { listWatch } from '../index.js'
import { until } from './support.mjs'

const servers = []
after(() => servers.forEach((server) => { server.closeAllConnections?.(); server.close() }))
async function listen(handler) {
  const server = createServer(handler)
  servers.push(server)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}

// Sends data as fast as the client reads, until the connection closes. Returns an object at once and updates it: `sent`
// is the number of bytes, and `over` is true after the connection has closed.
function flood(response, first, then) {
  const counted = { sent: 0, over: false }
  const part = Buffer.from(then.repeat(Math.ceil((64 << 10) / then.length)))
  response.on('close', () => { counted.over = true })
  response.write(first)
  const more = () => {
    while (!counted.over) {
      counted.sent += part.length
      if (!response.write(part)) return response.once('drain', more)
    }
  }
  more()
  return counted
}

// Opens a collection of Pods and waits until state.cause is set. Returns the cause, and the phase and size at that time.
async function causeOf(t, url, options = {}) {
  const pods = listWatch({ server: url, resource: 'pods', streamingLists: false, ...options })
  t.after(() => pods.close())
  pods.synced.catch(() => {})
  await until(() => pods.state.cause)
  return { cause: pods.state.cause, phase: pods.state.phase, size: pods.size }
}

const LIST = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":['
const item = (name) => `{"metadata":{"name":"${name}","resourceVersion":"1"}}`

test('an endless string is rejected as too large, and its connection is closed', async (t) => {
  let counted
  const url = await listen((_, response) => { counted = flood(response, `${LIST}{"metadata":{"name":"`, 'x') })
  const { cause } = await causeOf(t, url)
  assert.equal(cause.code, 'too-large')
  await until(() => counted.over)
  assert.ok(counted.sent < 256 << 20, `the server sent ${counted.sent} bytes before the client closed the connection`)
})

test('an endless list exceeds maxObjects', async (t) => {
  let counted, n = 0
  const url = await listen((_, response) => {
    counted = flood(response, LIST + item('a'), Array.from({ length: 1000 }, () => ',' + item(`web-${n++}`)).join(''))
  })
  const { cause, phase, size } = await causeOf(t, url, { maxObjects: 500 })
  assert.deepEqual([cause.code, phase, size], ['too-large', 'stopped', 501]) // the size includes the first object above the limit
  assert.equal(cause.message, 'the collection has more than 500 objects: raise maxObjects if this is expected')
  await until(() => counted.over)
})

test('a list with endless pages exceeds maxObjects, and a repeated page is detected', async (t) => {
  let n = 0
  const page = (token, name) => `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"${token}"},"items":[${item(name)}]}`
  const on = await listen((_, response) => response.end(page(`t${n}`, `web-${n++}`)))
  assert.equal((await causeOf(t, on, { maxObjects: 50 })).cause.code, 'too-large')
  const same = await listen((_, response) => response.end(page('again', 'a')))
  const { cause } = await causeOf(t, same)
  assert.match(cause.message, /the list's pagination makes no progress/)
})

// Size of the decompressed response in bytes. The compressed response is smaller than 2 MiB.
const BOMB = 200 << 20
const bombs = {
  gzip: (text) => new Promise((resolve) => {
    const parts = [], zip = createGzip()
    zip.on('data', (part) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)))
    zip.write(text)
    let left = BOMB >> 20
    const block = Buffer.alloc(1 << 20, 'x')
    const more = () => {
      while (left-- > 0) if (!zip.write(block)) return zip.once('drain', more)
      zip.end()
    }
    more()
  }),
  br: (text) => brotliCompressSync(Buffer.concat([Buffer.from(text), Buffer.alloc(BOMB, 'x')]), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}
for (const [encoding, make] of Object.entries(bombs)) {
  test(`a ${encoding} bomb is rejected as too large and is not kept in memory`, async (t) => {
    const bomb = await make(`${LIST}{"metadata":{"name":"`)
    assert.ok(bomb.length < 2 << 20, `the compressed bomb has ${bomb.length} bytes`)
    const url = await listen((_, response) => response.setHeader('Content-Encoding', encoding).end(bomb))
    let most = 0
    const before = process.memoryUsage().arrayBuffers
    const looking = setInterval(() => { most = Math.max(most, process.memoryUsage().arrayBuffers - before) }, 5)
    t.after(() => clearInterval(looking))
    assert.equal((await causeOf(t, url)).cause.code, 'too-large')
    assert.ok(most < 64 << 20, `the client used ${most >> 20} MiB outside the module's memory`)
  })
}

test('at most 64 kB of an error response are read, and at most 200 bytes are shown', async (t) => {
  let counted
  const url = await listen((_, response) => { counted = flood(response.writeHead(500), 'no ', 'no ') })
  const { cause } = await causeOf(t, url)
  assert.deepEqual([cause.code, cause.status], ['status', 500])
  assert.ok(cause.message.length < 300)
  await until(() => counted.over)
})

test('endless headers and non-HTTP responses cause network errors', async (t) => {
  for (const [first, then] of [['HTTP/1.1 200 OK\r\n', 'X-Header: value\r\n'], ['HTTP/1.1 200 OK\r\nX: ', 'x'], ['', 'x']]) {
    const server = listenRaw((socket) => { socket.on('error', () => {}); flood(socket, first, then) })
    servers.push(server)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    assert.equal((await causeOf(t, `http://127.0.0.1:${server.address().port}`)).cause.code, 'network')
  }
})

test('circular redirects fail after a limited number of requests', async (t) => {
  let asked = 0
  const url = await listen((request, response) => { asked++; response.writeHead(302, { Location: request.url }).end() })
  assert.equal((await causeOf(t, url)).cause.code, 'network')
  assert.ok(asked < 30, `${asked} requests`)
})

test('a cross-origin redirect sends no credentials, and fails if there are custom headers', async (t) => {
  const seen = []
  const other = await listen((request, response) => { seen.push(request.headers); response.writeHead(401).end() })
  const url = await listen((request, response) => { response.writeHead(302, { Location: other + request.url }).end() })
  assert.equal((await causeOf(t, url, { token: 'pa55word' })).cause.code, 'unauthorized')
  assert.equal((await causeOf(t, url, { headers: { 'X-Key': 'pa55word' } })).cause.code, 'network')
  assert.equal((await causeOf(t, url, { headers: { Authorization: 'Basic pa55word' } })).cause.code, 'unauthorized')
  assert.ok(seen.length > 1)
  assert.ok(!JSON.stringify(seen).includes('pa55word'))
})

test('a token in an error response is hidden', async (t) => {
  const url = await listen((request, response) => { response.writeHead(401).end(`no: ${request.headers.authorization}`) })
  const { cause } = await causeOf(t, url, { token: 'eyJ.pa55word' })
  assert.equal(cause.message, `the server answered 401: no: Bearer … (${url}/api/v1/pods)`)
})

test('100,000 small events for one object are applied', async (t) => {
  let events = 0
  const url = await listen((request, response) => {
    if (!request.url.includes('watch=1')) return response.end(`${LIST}]}`)
    for (; events < 100_000; events++) response.write(`{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"${events + 6}"}}}`)
  })
  const pods = listWatch({ server: url, resource: 'pods', streamingLists: false })
  t.after(() => pods.close())
  await until(() => pods.state.resourceVersion === '100005')
  assert.equal(pods.size, 1)
})


test('an error response without a Status names the URL, and shows no HTML', async (t) => {
  const url = await listen((request, response) => { response.writeHead(404, { 'Content-Type': 'text/html' }).end('<html><head><title>404 Not Found</title></head></html>\r\n') })
  const { cause } = await causeOf(t, `${url}/k8s`, { resource: 'apps/v1/deployments', namespace: 'shop' })
  assert.deepEqual([cause.code, cause.message], ['not-found', `the server answered 404 (${url}/k8s/apis/apps/v1/namespaces/shop/deployments)`])
})

test('every request has each parameter once, even if the server rejects WebSockets', async (t) => {
  const { WebSocket } = globalThis
  t.after(() => { globalThis.WebSocket = WebSocket })
  globalThis.WebSocket = class {
    constructor() { setImmediate(() => this.onerror?.()) }
    close() {}
  }
  const queries = []
  const list = JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items: [] })
  const url = await listen((request, response) => {
    const { searchParams } = new URL(request.url, 'http://host')
    queries.push([...searchParams.keys()])
    if (searchParams.has('watch')) response.writeHead(500).end('no watches')
    else response.end(list)
  })
  await causeOf(t, url, { transport: 'ws', streamingLists: false })
  assert.ok(queries.some((names) => names.includes('timeoutSeconds')), `${queries}`)
  for (const names of queries) assert.deepEqual(names, [...new Set(names)])
})
