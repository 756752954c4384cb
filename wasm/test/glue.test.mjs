import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterEach, test } from 'node:test'
import { glue } from '../glue.js'
import { until } from './support.mjs'

const PENDING = -1, FAILED = -2, TOO_MUCH = -3, LOST = -4

// Simulates a Go program that has a memory and calls the functions of the glue.
function program(host, resume = () => {}) {
  const memory = { buffer: new ArrayBuffer(1 << 16) }
  const woken = []
  const go = { importObject: {}, _inst: { exports: { mem: memory, listwatch_wake: (id) => woken.push(id) } }, _scheduledTimeouts: new Map(), _resume: resume }
  glue(go, host)
  const imports = go.importObject.listwatch
  const put = (text, at) => new TextEncoder().encodeInto(text, new Uint8Array(memory.buffer, at)).written
  const open = (url, headers = []) => {
    const id = imports.open(0, put(url, 0))
    for (const [name, value] of headers) imports.add(id, 0, put(name, 0), 1000, put(value, 1000))
    return id
  }
  const read = (id, size = 1000) => {
    const n = imports.read(id, 0, size)
    return n < 0 ? n : new TextDecoder().decode(new Uint8Array(memory.buffer, 0, n))
  }
  const text = (id, what = 0) => {
    const n = imports.text(id, what, 0, 0)
    return new TextDecoder().decode(new Uint8Array(memory.buffer, 0, imports.text(id, what, 0, n)))
  }
  return { go, imports, memory, woken, open, read, text, fetch: (url, headers) => { const id = open(url, headers); imports.fetch(id, 0, 0); return id } }
}

const servers = []
afterEach(() => servers.splice(0).forEach((server) => { server.closeAllConnections(); server.close() }))
async function listen(handler) {
  const server = createServer(handler)
  servers.push(server)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}/`
}

test('a response is read completely in pieces of the requested size', async () => {
  const url = await listen((request, response) => {
    response.writeHead(429, { 'Retry-After': '7' })
    response.end(`${request.headers.accept} and more`)
  })
  const p = program()
  const id = p.fetch(url, [['Accept', 'text/x']])
  assert.equal(p.imports.state(id), PENDING)
  await until(() => p.imports.state(id) === 429)
  assert.equal(p.text(id, 1), '7')
  assert.equal(p.read(id), PENDING)
  await until(() => p.read(id, 0) === '')
  let all = ''
  for (let part; (part = p.read(id, 4)) !== '';) {
    if (part === PENDING) await new Promise(setImmediate)
    else all += part
  }
  assert.equal(all, 'text/x and more')
  assert.ok(p.woken.every((woken) => woken === id))
})

test('a response is not read in advance', async () => {
  let sent = 0, full
  const filled = new Promise((resolve) => { full = resolve })
  const url = await listen((_, response) => {
    const more = () => {
      while (sent < 1e8) {
        sent += 1 << 16
        if (!response.write(new Uint8Array(1 << 16))) return response.once('drain', more) && full()
      }
    }
    more()
  })
  const p = program()
  const id = p.fetch(url)
  await filled
  await until(() => p.imports.state(id) === 200)
  assert.equal(p.read(id), PENDING) // starts to read the body
  await until(() => p.woken.length > 1)
  let held = -1
  await until(() => held === (held = sent)) // the server waits, because all buffers are full
  assert.ok(sent < 5e7, `the server sent ${sent} bytes that the program had not read`)
  p.imports.close(id)
})

test('closing a stream closes its connection and causes no more wake-ups', async () => {
  let closed = false
  const url = await listen((_, response) => {
    response.on('close', () => { closed = true })
    response.write('x')
  })
  const p = program()
  const id = p.fetch(url)
  await until(() => p.imports.state(id) === 200)
  p.imports.close(id)
  await until(() => closed)
  const woken = p.woken.length
  await new Promise(setImmediate)
  assert.equal(p.woken.length, woken)
  assert.deepEqual([p.imports.state(id), p.read(id)], [FAILED, FAILED])
})

test('a broken connection fails with Node\'s error message', async () => {
  const p = program()
  const refused = p.fetch('http://127.0.0.1:2/') // no program listens on this port, and unlike a port that was free a moment ago, no other test can get it
  await until(() => p.imports.state(refused) === FAILED)
  assert.match(p.text(refused), /TypeError: fetch failed \(.*ECONNREFUSED/)
  assert.equal(p.read(refused), FAILED)

  let connection
  const url = await listen((_, response) => {
    connection = response
    response.writeHead(200, { 'Content-Length': '10' })
    response.write('half')
  })
  const broken = p.fetch(url)
  await until(() => p.imports.state(broken) === 200)
  let part
  await until(() => (part = p.read(broken)) !== PENDING)
  assert.equal(part, 'half')
  connection.destroy()
  await until(() => (part = p.read(broken)) !== PENDING)
  assert.equal(part, FAILED)
  assert.notEqual(p.text(broken), '')
})

test('after memory has grown, bytes are written to the new buffer', async () => {
  const p = program({ ask: async () => {
    p.memory.buffer = new ArrayBuffer(1 << 17)
    return 'the answer'
  } })
  const id = p.open('question')
  p.imports.ask(id)
  await until(() => p.imports.state(id) === 200)
  assert.equal(p.read(id, 3), 'the')
  assert.equal(p.read(id), ' answer')
})

test('questions and messages reach the host, and exceptions of the host reach the program', async () => {
  const seen = []
  const p = program({ ask: (question) => { if (question === 'bad') throw new Error('no token'); return Promise.resolve(`to ${question}`) },
    emit: (id, bytes) => seen.push([id, ...bytes]) })
  const good = p.open('good'), bad = p.open('bad')
  p.imports.ask(good)
  p.imports.ask(bad)
  await until(() => p.imports.state(good) === 200 && p.imports.state(bad) === FAILED)
  assert.equal(p.read(good), 'to good')
  assert.equal(p.text(bad), 'Error: no token')
  new Uint8Array(p.memory.buffer).set([7, 8], 500)
  p.imports.emit(3, 500, 2)
  assert.deepEqual(seen, [[3, 7, 8]])
})

test('a lease lasts until the host revokes it or the program closes the stream', async () => {
  for (const end of ['resolve', 'reject']) {
    let over, returned = false
    const p = program({ ask: (question, closed) => {
      closed.then(() => { returned = true })
      return { text: 'slot', revoked: new Promise((resolve, reject) => { over = { resolve, reject } }) }
    } })
    const id = p.open('question')
    p.imports.ask(id)
    await until(() => p.woken.length === 1)
    assert.equal(p.imports.state(id), 200)
    assert.equal(p.read(id), 'slot')
    assert.equal(p.read(id), PENDING)
    over[end](new Error('no locks'))
    await until(() => p.woken.length === 2)
    assert.equal(p.read(id), '', 'a read must end after the host has revoked the slot')
    assert.equal(returned, false)
    p.imports.close(id)
    await until(() => returned)
  }
})

test('a trap stops the program, closes its connections and timers, and is reported to the host once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let gone
  const closed = new Promise((resolve) => { gone = resolve })
  const url = await listen((_, response) => {
    response.on('close', gone)
    response.write('x')
  })
  const crashes = [], p = program({ crashed: (error) => crashes.push(error) })
  const id = p.fetch(url)
  await until(() => p.imports.state(id) === 200)
  p.go._scheduledTimeouts.set(1, setTimeout(() => p.go._resume(), 1000))
  const error = new WebAssembly.RuntimeError('unreachable')
  p.go._inst.exports.listwatch_wake = () => { throw error }
  p.read(id)
  p.read(id)
  await until(() => crashes.length)
  await closed
  assert.equal(p.go._scheduledTimeouts.size, 0)
  t.mock.timers.tick(1000)
  assert.deepEqual(crashes, [error])
  assert.ok(p.go.exited)
})

test('a trap in a timer stops the program', () => {
  const crashes = [], error = new WebAssembly.RuntimeError('memory access out of bounds')
  const p = program({ crashed: (error) => crashes.push(error) }, () => { throw error })
  p.go._resume()
  p.go._resume()
  assert.deepEqual(crashes, [error])
})

test('a program without a host throws its trap', () => {
  const error = new WebAssembly.RuntimeError('unreachable')
  const p = program(undefined, () => { throw error })
  assert.throws(() => p.go._resume(), error)
  assert.ok(p.go.exited)
})

test('a stopped program is not woken', async () => {
  const p = program({ ask: async () => 'late' })
  p.imports.ask(p.open('question'))
  p.go.exited = true
  await new Promise((resolve) => setTimeout(resolve))
  assert.deepEqual(p.woken, [])
})

class Socket {
  constructor(url, protocols) {
    if (url === 'bad:') throw new SyntaxError('no such scheme')
    Object.assign(this, { url, protocols })
    Socket.last = this
  }
  close() { this.closed = true }
}
async function socket(t, url, limit) {
  const real = globalThis.WebSocket
  globalThis.WebSocket = Socket
  t.after(() => { globalThis.WebSocket = real })
  const p = program()
  const id = p.open(url, [['', 'protocol']])
  p.imports.socket(id, limit)
  return { p, id, socket: Socket.last }
}
const turns = () => new Promise((resolve) => setTimeout(resolve))

test('WebSocket messages are joined by newlines, and a burst wakes the program once', async (t) => {
  const { p, id, socket: s } = await socket(t, 'ws://host/', 1000)
  assert.deepEqual(s.protocols, { protocols: ['protocol'], headers: { Origin: 'http://host' } }, 'Node must send the Origin header')
  s.onopen()
  await turns()
  assert.equal(p.imports.state(id), 101)
  p.woken.length = 0
  s.onmessage({ data: '{"a":1}' })
  s.onmessage({ data: new TextEncoder().encode('{"b":2}').buffer })
  await turns()
  assert.deepEqual(p.woken, [id])
  assert.equal(p.read(id), '{"a":1}\n{"b":2}')
  assert.equal(p.read(id), PENDING)
  s.onclose({ code: 1001, reason: 'going away' })
  assert.deepEqual([p.imports.state(id), p.read(id), p.text(id)], [1001, '', 'going away'])
})

test('a WebSocket that exceeds the limit for unread bytes is closed, and earlier messages stay readable', async (t) => {
  const { p, id, socket: s } = await socket(t, 'ws://host/', 10)
  s.onopen()
  s.onmessage({ data: '12345678' })
  s.onmessage({ data: 'abc' })
  assert.ok(s.closed)
  assert.equal(p.read(id), '12345678')
  assert.equal(p.read(id), TOO_MUCH)
})

test('empty messages are read in linear time and count toward the limit', async (t) => {
  const { p, id, socket: s } = await socket(t, 'ws://host/', 1 << 26)
  s.onopen()
  let sent = 0
  for (; !s.closed && sent < 400_000; sent++) s.onmessage({ data: '' })
  assert.ok(sent > 100_000 && sent < 400_000, `the socket closed after ${sent} messages`)
  let read = 0
  for (let part; (part = p.imports.read(id, 0, 1 << 16)) > 0;) read += part
  assert.equal(read, sent - 2, 'the program must read only the newlines between the messages')
  assert.equal(p.read(id), TOO_MUCH)
})

test('the limit of a WebSocket applies only to unread bytes', async (t) => {
  const { p, id, socket: s } = await socket(t, 'ws://host/', 10)
  s.onopen()
  for (let i = 0; i < 5; i++) {
    s.onmessage({ data: '12345678' })
    assert.equal(p.read(id).trim(), '12345678')
  }
  assert.equal(s.closed, undefined)
})

test('a WebSocket that does not open fails with or without a close event', async (t) => {
  for (const refuse of [(s) => s.onclose({ code: 1006, reason: '' }), (s) => s.onerror({})]) {
    const { p, id, socket: s } = await socket(t, 'ws://host/', 10)
    refuse(s)
    assert.deepEqual([p.imports.state(id), p.text(id)], [FAILED, 'the WebSocket could not be opened'])
  }
  const { p, id } = await socket(t, 'bad:', 10)
  assert.deepEqual([p.imports.state(id), p.text(id)], [FAILED, 'SyntaxError: no such scheme'])
  await socket(t, 'ws://host/', 10)
})

test('a WebSocket that reports only a clean close (possible in Firefox) counts as lost, not as rejected', async (t) => {
  const { p, id, socket: s } = await socket(t, 'ws://host/', 10)
  s.onclose({ code: 1000, reason: '' })
  assert.equal(p.imports.state(id), LOST)
})

test('a runtime without WebSockets, such as Node 20, causes an error', async (t) => {
  const real = globalThis.WebSocket
  globalThis.WebSocket = undefined
  t.after(() => { globalThis.WebSocket = real })
  const p = program()
  const id = p.open('ws://host/')
  p.imports.socket(id, 10)
  assert.equal(p.imports.state(id), FAILED)
  assert.match(p.text(id), /WebSocket is missing/)
})
