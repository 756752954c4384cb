import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { Window } from 'happy-dom'
import { Engine } from '../engine.js'
import { Host } from '../host.js'
import { Mirror } from '../mirror.js'
import { decode } from '../records.js'
import { specOf } from '../spec.js'
import { until } from './support.mjs'
import { trap, trapsAtStart } from './trap.mjs'

const file = new URL('../listwatch.wasm', import.meta.url)
const bytes = readFileSync(file)
const globals = new Set(Object.getOwnPropertyNames(globalThis))
let server, base

before(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/missing') return response.writeHead(404).end()
    if (url === '/login') return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>')
    response.writeHead(200, { 'Content-Type': url === '/wasm' ? 'application/wasm' : 'application/octet-stream' }).end(bytes)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${server.address().port}`
})
after(() => server.close())

// Imports a new copy of index.js without the state of earlier imports.
let last = 0
const fresh = () => import(`../index.js?${++last}`)

const sources = {
  'the default URL': () => undefined,
  'a URL string': () => `${base}/wasm`,
  'a URL': () => new URL('/wasm', base),
  'a file URL': () => file,
  'a URL with the wrong content type': () => `${base}/octets`,
  'a response': () => fetch(`${base}/wasm`),
  'bytes': () => bytes,
  'a buffer': () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  'a module': () => WebAssembly.compile(bytes),
}
for (const [words, wasm] of Object.entries(sources)) {
  test(`the module is loaded from ${words}`, async () => {
    const { init } = await fresh()
    await init({ wasm: await wasm() })
  })
}

const typed = { headers: { 'Content-Type': 'application/wasm' } }

test('the module is loaded from a response that belongs to another realm', async (t) => {
  const window = new Window()
  t.after(() => window.close())
  const { init } = await fresh()
  await init({ wasm: new window.Response(bytes, typed) })
})

for (const [words, response] of Object.entries({
  'happy-dom replaces Response and fetch': (window) => ({ Response: window.Response, fetch: async () => new window.Response(bytes, typed) }),
  'a server sends no content type': () => ({ fetch: async () => new Response(bytes) }),
  'streaming compilation is missing': () => ({ WebAssembly: { ...own(WebAssembly), compileStreaming: undefined } }),
})) {
  for (const wasm of ['http://host/listwatch.wasm', undefined]) {
    test(`the module is loaded from ${wasm ?? 'the default URL'} if ${words}`, async (t) => {
      const window = new Window()
      const replaced = { fetch: async () => new Response(bytes, typed), ...response(window) }
      const before = Object.fromEntries(Object.keys(replaced).map((name) => [name, globalThis[name]]))
      Object.assign(globalThis, replaced)
      t.after(() => {
        Object.assign(globalThis, before)
        return window.close()
      })
      const { init } = await fresh()
      await init({ wasm })
    })
  }
}

/** Returns a copy of an object that includes its non-enumerable properties. */
const own = (object) => Object.fromEntries(Object.getOwnPropertyNames(object).map((name) => [name, object[name]]))

test('an invalid module is reported with its compilation error', async () => {
  const { init } = await fresh()
  await assert.rejects(init({ wasm: new Response(new Uint8Array(8), typed) }), ({ code, message, cause }) =>
    code === 'load' && /magic/.test(message) && cause instanceof WebAssembly.CompileError)
})

test('if the module URL returns an HTML page, the error contains the URL and a hint about bundlers', async () => {
  const { init } = await fresh()
  await assert.rejects(init({ wasm: `${base}/login` }),
    { code: 'load', message: /127\.0\.0\.1:\d+\/login answers with an HTML page\. .*bundler.*init\({ worker, wasm }\): https:.*#bundlers$/ })
})

const failing = {
  'a missing file on a server': () => `${base}/missing`,
  'an HTML page': () => `${base}/login`,
  'no server': () => 'http://127.0.0.1:1/listwatch.wasm',
  'a missing file': () => new URL('./none.wasm', import.meta.url),
  'a relative path outside a page': () => './listwatch.wasm',
  'invalid bytes': () => new Uint8Array([1, 2, 3]),
  'a number': () => 7,
}
for (const [words, wasm] of Object.entries(failing)) {
  test(`a failed load is reported, and a later init retries: ${words}`, async () => {
    const { ListWatchError, init } = await fresh()
    const failed = init({ wasm: wasm() })
    assert.equal(init(), failed)
    await assert.rejects(failed, (error) => error instanceof ListWatchError && error.code === 'load' && !error.retryable && /could not be loaded: ./.test(error.message))
    await init()
  })
}

test('a collection fails if its WASM module does not load', async () => {
  const { init, listWatch } = await fresh()
  const failed = init({ wasm: new Uint8Array(3) })
  const pods = listWatch({ server: base, resource: 'pods' })
  await assert.rejects(pods.synced, { code: 'load' })
  await assert.rejects(failed, { code: 'load' })
  assert.deepEqual([pods.state.phase, pods.state.cause.code], ['stopped', 'load'])
})

test('init always returns the same promise', async () => {
  const { init } = await fresh()
  const first = init()
  assert.equal(init({ wasm: 'ignored' }), first)
  await first
  assert.equal(init(), first)
})

test('init rejects an unknown or unsupported mode', async () => {
  const { init } = await fresh()
  await assert.rejects(init({ mode: 'thread' }), { code: 'invalid', message: /"shared", "worker" or "main"/ })
  await assert.rejects(init({ mode: 'shared' }), { code: 'load', message: /shared worker .*could not be started: SharedWorker is not defined; / })
  await assert.rejects(init({ mode: 'worker' }), { code: 'load', message: /worker .*could not be started: Worker is not defined; / })
  await init({ mode: 'main' })
})

test('the package adds no globals', async () => {
  const { init } = await fresh()
  await init()
  assert.deepEqual(Object.getOwnPropertyNames(globalThis).filter((name) => !globals.has(name)), [])
})

// Returns a client that records the phase and the failures of its collection.
const sink = () => {
  const mirror = new Mirror()
  const failures = []
  return { failures, get phase() { return mirror.state.phase }, failed: (error) => failures.push(error),
    records: (bytes) => decode(bytes, (kind, fields) => mirror.apply(kind, fields)) }
}
const live = (...sinks) => until(() => sinks.every(({ phase }) => phase === 'live'))

test('a trap fails all collections, and the next collection restarts the module', async () => {
  const engine = await Engine.load(trap)
  const first = sink(), second = sink(), closed = sink(), third = sink()
  engine.start({ endpoint: {} }, first)
  engine.start({ endpoint: {} }, second)
  const id = engine.start({ endpoint: {} }, closed)
  await live(first, second, closed)
  engine.stop(id)
  engine.wake()
  await until(() => second.failures.length)
  for (const { failures } of [first, second]) {
    assert.deepEqual(failures.map(({ name, code }) => [name, code]), [['ListWatchError', 'crashed']])
    assert.match(failures[0].message, /the WASM module crashed: unreachable/)
    assert.ok(failures[0].cause instanceof WebAssembly.RuntimeError)
  }
  assert.deepEqual(closed.failures, [])
  engine.wake() // has no effect without a running module
  engine.stop(id)
  engine.start({ endpoint: {} }, third)
  await live(third)
  engine.wake()
  await until(() => third.failures.length)
  assert.deepEqual([first.failures.length, second.failures.length], [1, 1])
})

test('a trap while the module starts fails all collections', async () => {
  const engine = await Engine.load(trapsAtStart), it = sink()
  engine.start({ endpoint: {} }, it)
  await until(() => it.failures.length)
  assert.match(it.failures[0].message, /crashed: unreachable/)
})

test('all collections fail if the module exits, for example after a panic', async (t) => {
  t.mock.method(WebAssembly, 'instantiate', async (_, imports) => {
    const run = () => imports.gojs['runtime.wasmExit'](0)
    return Object.create(WebAssembly.Instance.prototype, { exports: { value: { mem: { buffer: new ArrayBuffer(1 << 16) }, run } } })
  })
  const engine = await Engine.load(trap), it = sink()
  engine.start({ endpoint: {} }, it)
  await until(() => it.failures.length)
  assert.deepEqual([it.failures[0].code, it.failures.length], ['crashed', 1])
  assert.match(it.failures[0].message, /crashed: it exited/)
})

test('an exception in one client\'s records() fails all collections', async () => {
  const engine = await Engine.load(trap), other = sink()
  engine.start({ endpoint: {} }, other)
  await live(other)
  const bad = { ...sink(), records() { throw new Error('a mistake') } }
  engine.start({ endpoint: {} }, bad)
  await until(() => other.failures.length)
  assert.deepEqual([other.failures[0].code, bad.failures[0].code], ['crashed', 'crashed'])
  assert.match(other.failures[0].message, /a mistake/)
})

test('die() stops the module and its collections immediately', async () => {
  const engine = await Engine.load(trap), first = sink(), second = sink()
  engine.start({ endpoint: {} }, first)
  await live(first)
  engine.die(new Error('from elsewhere'))
  assert.deepEqual(first.failures.map(({ code }) => code), ['crashed'])
  engine.start({ endpoint: {} }, second)
  await live(second)
  assert.equal(first.failures.length, 1)
})

test('a restarted module does not receive commands for the crashed module', async () => {
  const engine = await Engine.load(trap), first = sink(), second = sink()
  engine.start({ endpoint: {} }, first)
  engine.wake() // must not reach the next module, which would trap
  engine.die(new Error('from elsewhere'))
  engine.start({ endpoint: {} }, second)
  await until(() => second.phase === 'live' || second.failures.length)
  assert.deepEqual(second.failures, [])
})

test('die() closes the connections that the module opened', async (t) => {
  let requested, gone
  const request = new Promise((resolve) => { requested = resolve }), closed = new Promise((resolve) => { gone = resolve })
  const silent = createServer((_, response) => {
    response.on('close', gone)
    requested()
  })
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const engine = await Engine.load(bytes), it = sink()
  new Host(engine).open(specOf({ server: `http://127.0.0.1:${silent.address().port}`, resource: 'pods' }).spec, it)
  await request
  engine.die(new Error('from elsewhere'))
  await closed
  assert.deepEqual(it.failures.map(({ code }) => code), ['crashed'])
})

test('an interrupted start of the module does not affect a later start', async (t) => {
  const engine = await Engine.load(trap), it = sink()
  engine.die(new Error('from elsewhere'))
  const { instantiate } = WebAssembly, starts = []
  t.mock.method(WebAssembly, 'instantiate', (...all) => new Promise((resolve, reject) => starts.push({ resolve: () => resolve(instantiate(...all)), reject })))
  const overtake = () => {
    engine.start({ endpoint: {} }, sink())
    engine.die(new Error('from elsewhere'))
  }
  overtake()
  overtake()
  engine.start({ endpoint: {} }, it)
  starts[2].resolve()
  await live(it)
  starts[0].reject(new Error('out of memory'))
  starts[1].resolve()
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  assert.deepEqual(it.failures, [])
  engine.start({ endpoint: {} }, it)
  engine.wake()
  await until(() => it.failures.length)
})

test('a failed restart of the module fails the collections', async (t) => {
  const engine = await Engine.load(trap), first = sink(), second = sink()
  engine.start({ endpoint: {} }, first)
  await live(first)
  engine.die(new Error('from elsewhere'))
  t.mock.method(WebAssembly, 'instantiate', async () => { throw new RangeError('out of memory') })
  engine.start({ endpoint: {} }, second)
  await until(() => second.failures.length)
  assert.match(second.failures[0].message, /crashed: out of memory/)
})
