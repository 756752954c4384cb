import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { Engine } from '../engine.js'

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

// The module that init belongs to, anew, as its state is for all who import it.
let last = 0
const fresh = () => import(`../index.js?${++last}`)

const sources = {
  'beside the module': () => undefined,
  'a URL as text': () => `${base}/wasm`,
  'a URL': () => new URL('/wasm', base),
  'a URL of a file': () => file,
  'a URL that is served under another type': () => `${base}/octets`,
  'a response': () => fetch(`${base}/wasm`),
  'bytes': () => bytes,
  'a buffer': () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  'a module': () => WebAssembly.compile(bytes),
}
for (const [words, wasm] of Object.entries(sources)) {
  test(`the program is loaded from ${words}`, async () => {
    const { init } = await fresh()
    await init({ wasm: await wasm() })
  })
}

const failing = {
  'a server that does not have it': () => `${base}/missing`,
  'a page in its place': () => `${base}/login`,
  'no server': () => 'http://127.0.0.1:1/listwatch.wasm',
  'no file': () => new URL('./none.wasm', import.meta.url),
  'a path without a page': () => './listwatch.wasm',
  'bytes of something else': () => new Uint8Array([1, 2, 3]),
  'nothing of the kind': () => 7,
}
for (const [words, wasm] of Object.entries(failing)) {
  test(`a load that fails says so, and a later init tries again: ${words}`, async () => {
    const { ListWatchError, init } = await fresh()
    const failed = init({ wasm: wasm() })
    assert.equal(init(), failed)
    await assert.rejects(failed, (error) => error instanceof ListWatchError && error.code === 'load' && !error.retryable && /could not be loaded: ./.test(error.message))
    await init()
  })
}

test('a collection whose program does not load fails with that', async () => {
  const { init, listWatch } = await fresh()
  const failed = init({ wasm: new Uint8Array(3) })
  const pods = listWatch({ server: base, resource: 'pods' })
  await assert.rejects(pods.synced, { code: 'load' })
  await assert.rejects(failed, { code: 'load' })
  assert.deepEqual([pods.state.phase, pods.state.cause.code], ['stopped', 'load'])
})

test('init is one and the same promise', async () => {
  const { init } = await fresh()
  const first = init()
  assert.equal(init({ wasm: 'ignored' }), first)
  await first
  assert.equal(init(), first)
})

test('a mode that is not there is refused', async () => {
  const { init } = await fresh()
  await assert.rejects(init({ mode: 'thread' }), { code: 'invalid', message: /"shared", "worker" or "main"/ })
  await assert.rejects(init({ mode: 'shared' }), { code: 'invalid', message: /no SharedWorker here/ })
  await assert.rejects(init({ mode: 'worker' }), { code: 'invalid', message: /no Worker here/ })
  await init({ mode: 'main' })
})

test('nothing global is left behind', async () => {
  const { init } = await fresh()
  await init()
  assert.deepEqual(Object.getOwnPropertyNames(globalThis).filter((name) => !globals.has(name)), [])
})

test('a program that ended fails what it follows, and what is opened then', async () => {
  const engine = await Engine.load(bytes)
  const failed = []
  const sink = { records() {}, failed: (error) => failed.push(error.code) }
  engine.start({ endpoint: {} }, sink)
  engine.end()
  engine.start({ endpoint: {} }, sink)
  assert.deepEqual(failed, ['load', 'load'])
})
