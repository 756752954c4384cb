// Tests the lifecycle of workers as pages observe it. The simulated workers run worker.js with the WASM module of
// trap.mjs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { connect } from '../connect.js'
import { Engine } from '../engine.js'
import { ListWatchError } from '../error.js'
import { Channel, PROTOCOL } from '../messages.js'
import { INTERRUPTED, LIVE, encode } from '../records.js'
import { browser } from './browser.mjs'
import { trap } from './trap.mjs'

const turn = () => new Promise(setImmediate)
const until = async (holds) => {
  for (const deadline = Date.now() + 100_000; !holds(); await turn()) assert.ok(Date.now() < deadline, `still false after 100 s: ${holds}`)
}
const options = { server: 'http://host', resource: 'pods' }
const isStopped = ({ state }, code) => assert.deepEqual([state.phase, state.cause?.name, state.cause?.code], ['stopped', 'ListWatchError', code])
const live = (...all) => until(() => all.every(({ state }) => state.phase === 'live'))
const stopped = (...all) => until(() => all.every(({ state }) => state.phase === 'stopped'))

async function opened(at, init = { wasm: trap }) {
  const page = await at.page()
  await page.init(init)
  const collection = page.listWatch(options)
  await live(collection)
  return { page, collection }
}

// Follows a collection whose restarts `restarts` counts.
function traced(page, resource = 'pods') {
  const events = []
  const collection = page.listWatch({ ...options, resource, trace: (event, detail) => events.push(`${event} ${detail}`) })
  return { collection, restarts: (cause) => events.filter((event) => event.startsWith('warning') && event.includes(cause)).length }
}

for (const mode of ['shared', 'worker', 'main']) {
  test(`${mode}: after a trap, every collection restarts the module, but not more often than three times a minute`, async (t) => {
    const at = browser(t), page = await at.page()
    await page.init({ wasm: trap, mode })
    const all = [traced(page), traced(page, 'nodes')], collections = all.map(({ collection }) => collection)
    for (let n = 1; n <= 3; n++) {
      await live(...collections)
      page.wake()
      await until(() => all.every(({ restarts }) => restarts('the WASM module crashed: unreachable') === n))
    }
    await live(...collections)
    page.wake()
    await stopped(...collections)
    for (const each of collections) isStopped(each, 'crashed')
    collections[0].retry()
    await live(collections[0])
    assert.equal(at.started.length, mode === 'main' ? 0 : 1, 'the worker must keep running')
  })
}

// Chromium can connect a page to a shared worker that has just ended and never responds.
test('a page that gets no answer from a shared worker connects once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const at = browser(t, { shared() {} })
  const page = await at.page()
  const loading = page.init({ mode: 'shared', wasm: trap })
  await until(() => at.started.length === 1)
  at.shared = 'works'
  for (let i = 0; i < 100; i++) await turn()
  t.mock.timers.tick(5000)
  for (let i = 0; i < 100; i++) await turn()
  assert.equal(at.started.length, 2, 'the page must connect again')
  await loading
})

test('a page whose workers never answer runs the module in the first worker that answers, or on its own thread', async (t) => {
  for (const [silent, kinds] of [[{ shared() {} }, 'shared shared worker'], [{ shared() {}, worker() {} }, 'shared shared worker']]) {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const at = browser(t, silent), warn = t.mock.method(console, 'warn', () => {}), page = await at.page()
    const loading = page.init({ wasm: trap })
    for (const [i, wait] of [5000, 5000, ...(silent.worker ? [20_000] : [])].entries()) {
      await until(() => at.started.length === i + 1)
      for (let i = 0; i < 100; i++) await turn()
      t.mock.timers.tick(wait)
    }
    await loading
    t.mock.timers.reset()
    const collection = page.listWatch(options)
    await live(collection)
    assert.equal(at.started.map(([kind]) => kind).join(' '), kinds)
    assert.match(warn.mock.calls[0].arguments[0], /the shared worker .*worker\.js could not be started: listwatch: no answer within 5000 ms/)
    assert.equal(warn.mock.callCount(), Object.keys(silent).length)
    warn.mock.restore()
  }
})

test('init rejects if the worker of the given mode never answers', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const at = browser(t, { shared() {} }), page = await at.page()
  const failure = assert.rejects(page.init({ mode: 'shared', wasm: trap }), { code: 'load', message: /no answer within 20000 ms/ })
  for (const [i, wait] of [5000, 20_000].entries()) {
    await until(() => at.started.length === i + 1)
    for (let i = 0; i < 100; i++) await turn()
    t.mock.timers.tick(wait)
  }
  await failure
})

test('after a trap in the shared worker, the collections of every page restart', async (t) => {
  const at = browser(t), pages = []
  for (let i = 0; i < 2; i++) {
    const page = await at.page()
    await page.init({ wasm: trap })
    pages.push({ page, ...traced(page) })
  }
  const collections = pages.map(({ collection }) => collection)
  await live(...collections)
  pages[0].page.wake()
  await until(() => pages.every(({ restarts }) => restarts('the WASM module crashed') === 1))
  await live(...collections)
})

for (const [type, event] of [['error', { error: new TypeError('a mistake') }], ['unhandledrejection', { reason: new TypeError('a mistake') }]]) {
  test(`after an uncaught error in a worker, every collection restarts: ${type}`, async (t) => {
    const at = browser(t), page = await at.page()
    await page.init({ wasm: trap })
    const { collection, restarts } = traced(page)
    await live(collection)
    const uncaught = Object.assign(new Event(type, { cancelable: true }), event)
    at.events.dispatchEvent(uncaught)
    assert.ok(uncaught.defaultPrevented)
    await until(() => restarts('a mistake') === 1)
    await live(collection)
  })
}

test('the browser reports uncaught errors before the module is loaded', async (t) => {
  const at = browser(t)
  await at.run()
  const uncaught = Object.assign(new Event('error', { cancelable: true }), { error: new Error('early') })
  at.events.dispatchEvent(uncaught)
  assert.equal(uncaught.defaultPrevented, false)
})

for (const mode of ['shared', 'worker']) {
  test(`${mode}: a killed worker is replaced, and its collections continue`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    const closed = page.listWatch({ ...options, resource: 'nodes' })
    await live(closed)
    closed.close()
    for (const workers of [2, 3]) {
      at.die()
      at.locks.kill(at.locks.names.at(-1))
      await until(() => collection.state.phase === 'stale')
      assert.match(collection.state.cause.message, /the worker is gone/)
      await live(collection)
      assert.equal(at.started.length, workers)
    }
  })

  test(`${mode}: the first worker is replaced even if it dies before a collection is live`, async (t) => {
    let opens = 0
    const at = browser(t, { [mode](port) {
      at.locks.request('the first', () => new Promise(() => {}))
      new Channel(port, { hello: () => 'the first', load() {}, open: () => { opens++ } }, assert.fail)
    } })
    const page = await at.page()
    await page.init({ wasm: trap, mode })
    const collection = page.listWatch(options)
    await until(() => opens && at.locks.held('the first'))
    at[mode] = 'works'
    at.locks.kill('the first')
    await live(collection)
    assert.equal(at.started.length, 2)
  })

  test(`${mode}: the worker loads the module that the page specifies, or the package's own module by default`, async (t) => {
    const loaded = []
    const at = browser(t, { [mode]: (port) => new Channel(port, { hello: () => '', load: ({ wasm }) => { loaded.push(wasm) } }, assert.fail) })
    for (const wasm of [undefined, './other.wasm', new URL('http://cdn/other.wasm')]) await (await at.page()).init({ mode, wasm })
    const file = new URL('../listwatch.wasm', import.meta.url) // the page sends the content of a file, because Node's fetch cannot read it
    assert.deepEqual(loaded, [new Uint8Array(readFileSync(file)), 'http://page/other.wasm', 'http://cdn/other.wasm'])
    for (const wasm of [7, new Response()]) await assert.rejects((await at.page()).init({ mode, wasm }), { code: 'invalid', message: /for a worker, wasm must be a URL, bytes or a module/ })
  })

  test(`${mode}: if workers die before a collection is live, the collection stops after the third restart`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    let opens = 0
    at.die()
    at[mode] = (port) => {
      const name = `worker ${at.started.length}`
      at.locks.request(name, () => new Promise(() => {}))
      new Channel(port, { hello: () => name, load() {}, open: () => { opens++ } }, assert.fail)
    }
    at.locks.kill(at.locks.names.at(-1))
    for (let n = 1; n <= 3; n++) {
      await until(() => opens === n && at.locks.held(`worker ${n + 1}`))
      at.locks.kill(`worker ${n + 1}`)
    }
    await stopped(collection)
    isStopped(collection, 'crashed')
    assert.match(collection.state.cause.message, /the worker is gone/)
    assert.equal(at.started.length, 4)
    at[mode] = 'works'
    collection.retry()
    await live(collection, page.listWatch(options))
  })

  test(`${mode}: if a killed worker cannot be replaced, the collections stop, and the next collection starts a worker`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    at.die()
    at[mode] = 'errors'
    at.locks.kill(at.locks.names.at(-1))
    await stopped(collection)
    isStopped(collection, 'load')
    assert.match(collection.state.cause.message, /worker file:.*worker\.js could not be started/)
    at[mode] = 'works'
    await live(page.listWatch(options))
    assert.deepEqual(at.started.map(([kind]) => kind), [mode, mode, mode], 'each new worker must use the same mode')
  })

  test(`${mode}: init fails if the worker dies while loading the module`, async (t) => {
    const at = browser(t)
    let lock
    at[mode] = (port) => {
      at.locks.request('the worker', () => new Promise(() => {}))
      new Channel(port, { hello: () => 'the worker', load: () => new Promise(() => { lock = 'the worker' }) }, assert.fail)
    }
    const page = await at.page()
    const loading = page.init({ mode, wasm: trap })
    await until(() => lock)
    at.locks.kill(lock)
    await assert.rejects(loading, { code: 'crashed', message: /the worker is gone/ })
  })

  test(`${mode}: after an error event of a running worker, the collections continue in a new worker`, async (t) => {
    const at = browser(t), page = await at.page()
    await page.init({ wasm: trap, mode })
    const { collection, restarts } = traced(page)
    await live(collection)
    const pageLock = at.locks.names[0]
    const closes = mode === 'shared' && t.mock.method(at.workers[0].port, 'close')
    at.die()
    at.workers[0].onerror({ message: 'out of memory' })
    assert.equal(restarts('out of memory'), 1)
    if (mode === 'worker') assert.ok(at.workers[0].terminated)
    else assert.equal(closes.mock.callCount(), 1)
    if (mode === 'shared') await until(() => !at.locks.held(pageLock)) // the shared worker has closed the collections of this page
    await live(collection)
    assert.equal(at.started.length, 2)
  })

  test(`${mode}: an unreadable message from the worker stops every collection`, async (t) => {
    const at = browser(t)
    const { collection } = await opened(at, { wasm: trap, mode })
    if (mode === 'shared') at.workers[0].port.onmessageerror({})
    else at.ports[0].onmessageerror({})
    isStopped(collection, 'load')
  })
}

test('an unknown message to the worker stops only the collections of its sender', async (t) => {
  const at = browser(t)
  const first = await opened(at), second = await opened(at)
  at.ports[0].postMessage({ type: 'from the future' })
  await stopped(first.collection)
  isStopped(first.collection, 'load')
  assert.match(first.collection.state.cause.message, /are incompatible \(unexpected message: from the future .*\); reload the page/)
  await live(second.collection)
})

test('the worker drops a page that sends unknown messages, even without locks', async (t) => {
  const at = browser(t)
  globalThis.navigator = {}
  const { collection } = await opened(at)
  at.ports[0].postMessage({ type: 'from the future' })
  await stopped(collection)
  await until(() => !at.ports[1].onmessage)
})

test('a collection opened on a failed connection fails immediately', async (t) => {
  const at = browser(t), errors = []
  let failures = 0
  const link = await connect({ wasm: trap, mode: 'worker' }, () => failures++)
  at.workers[0].onerror({ message: 'out of memory' })
  link.open({}, { failed: (error) => errors.push(error) })()
  assert.equal(failures, 1)
  assert.deepEqual(errors.map(({ code, message }) => [code, /out of memory/.test(message)]), [['crashed', true]])
})

test('a closed page ends only its own collections', async (t) => {
  const at = browser(t)
  const first = await opened(at), second = await opened(at)
  at.locks.kill(at.locks.names[0]) // as if the first page had crashed
  await until(() => !at.ports[1].onmessage) // the worker ignores later messages from this page
  first.page.listWatch(options)
  await live(second.collection, second.page.listWatch({ ...options, resource: 'nodes' }))
})

test('the shared worker closes the collections of a closed page', async (t) => {
  const at = browser(t)
  const stops = t.mock.method(Engine.prototype, 'stop')
  const first = await opened(at), second = await opened(at)
  await live(first.page.listWatch({ ...options, resource: 'nodes' }))
  at.locks.kill(at.locks.names[0]) // as if the first page had crashed
  await until(() => !at.ports[1].onmessage) // the worker ignores later messages from this page
  assert.equal(stops.mock.callCount(), 1, 'only the watch of nodes must stop, because only the closed page watches nodes')
  await live(second.collection)
})

test('a page in a frame without lock permission does not use locks', async (t) => {
  const at = browser(t)
  at.locks.request = async () => { throw new DOMException('a sandboxed frame', 'SecurityError') }
  await opened(at)
  assert.deepEqual(at.started.map(([kind]) => kind), ['shared'])
})

test('a page disconnects from the shared worker if a lock request fails for an unknown reason', async (t) => {
  let closed
  const messages = [], at = browser(t, { shared(port) { port.onmessage = ({ data }) => messages.push(data); closed = once(port, 'close') } }), page = await at.page()
  at.locks.request = async () => { throw new Error('the lock manager is broken') }
  await assert.rejects(page.init({ wasm: trap, mode: 'shared' }), { name: 'ListWatchError', message: /the lock manager is broken/ })
  await closed
  assert.deepEqual([messages, at.started.length], [[], 1])
})

test('a page loads the module before the worker has answered its greeting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const messages = [], at = browser(t, { shared: (port) => { port.onmessage = ({ data }) => messages.push(data.type) } }), page = await at.page()
  page.init({ wasm: trap, mode: 'shared' }).catch(() => {}) // the worker never answers
  await until(() => messages.length)
  assert.deepEqual(messages, ['hello', 'load'])
})

for (const [words, how, kinds] of [
  ['a shared worker that cannot be constructed', { shared: 'throws' }, ['shared', 'worker']],
  ['a shared worker that cannot be loaded', { shared: 'errors' }, ['shared', 'worker']],
  ['workers that cannot be constructed', { shared: 'throws', worker: 'throws' }, ['shared', 'worker']],
  ['workers that cannot be loaded', { shared: 'errors', worker: 'errors' }, ['shared', 'worker']],
]) {
  test(`the page works despite ${words}`, async (t) => {
    const at = browser(t, how)
    const warn = t.mock.method(console, 'warn', () => {})
    await opened(at)
    assert.deepEqual(at.started.map(([kind]) => kind), kinds)
    const warnings = warn.mock.calls.map(({ arguments: [message] }) => message)
    assert.equal(warnings.length, Object.keys(how).length)
    for (const message of warnings) assert.match(message, /worker\.js could not be started.*init\({ worker, wasm }\)/)
  })
  for (const mode of ['shared', 'worker']) {
    if (!how[mode]) continue
    test(`init rejects the mode ${mode}: ${words}`, async (t) => {
      const at = browser(t, how), page = await at.page()
      await assert.rejects(page.init({ wasm: trap, mode }), ({ name, code, message }) => {
        assert.deepEqual([name, code], ['ListWatchError', 'load'])
        assert.match(message, /file:.*\/wasm\/worker\.js could not be started.*; serve it from the origin of the page, .*init\({ mode: "main" }\)/)
        assert.match(message, /bundler.*init\({ worker, wasm }\): https:.*#bundlers$/)
        return true
      })
      await page.init({ wasm: trap, mode: 'main' })
      await live(page.listWatch(options))
    })
  }
}

for (const mode of ['shared', 'worker']) {
  test(`${mode}: init starts the worker from the given URL, which may be relative to the page`, async (t) => {
    const at = browser(t)
    globalThis.origin = 'http://page'
    for (const worker of ['./assets/worker.js', new URL('http://page/assets/worker.js')]) {
      const { page, collection } = await opened(at, { wasm: trap, mode, worker })
      assert.deepEqual(at.started.splice(0).map(([kind, url]) => [kind, url]), [[mode, 'http://page/assets/worker.js']])
      collection.close()
      await assert.rejects((await at.page()).init({ mode, worker: 'http://' }), { name: 'ListWatchError', code: 'invalid', message: /worker is not a valid URL: http:\/\/$/ })
      await assert.rejects((await at.page()).init({ mode, wasm: 'http://' }), { name: 'ListWatchError', code: 'invalid', message: /wasm is not a valid URL: http:\/\/$/ })
    }
  })
}

test('listWatch retries with the options of a failed init', async (t) => {
  const at = browser(t, { shared: 'errors' }), page = await at.page()
  const failed = page.init({ wasm: trap, mode: 'shared', worker: 'http://page/worker.js' })
  await assert.rejects(failed, { code: 'load', message: /http:\/\/page\/worker.js could not be started/ })
  at.shared = 'works'
  await live(page.listWatch(options))
  assert.deepEqual(at.started.map(([kind, url]) => [kind, url]), [['shared', 'http://page/worker.js'], ['shared', 'http://page/worker.js']])
})

test('a worker from another origin is started through a blob that imports it', async (t) => {
  const at = browser(t)
  globalThis.origin = 'http://page'
  const blobs = []
  t.mock.method(URL, 'createObjectURL', (blob) => { blobs.push(blob); return 'blob:1' })
  const revoked = t.mock.method(URL, 'revokeObjectURL', () => {})
  const { collection } = await opened(at, { wasm: trap, mode: 'worker' })
  assert.equal(at.started[0][1], 'blob:1')
  assert.match(await blobs[0].text(), /^import "file:.*\/wasm\/worker\.js"$/)
  at.workers[0].onerror({ message: 'gone' })
  assert.equal(collection.state.cause.code, 'crashed')
  assert.equal(revoked.mock.callCount(), 1)
})

test('if the module fails to load, the page does not try another worker type', async (t) => {
  const at = browser(t), page = await at.page()
  await assert.rejects(page.init({ wasm: new Uint8Array(3) }), { code: 'load', message: /could not be loaded/ })
  assert.equal(at.started.length, 1)
  await page.init({ wasm: trap })
  await live(page.listWatch(options))
})

test('a page opens collections before the module is loaded, and they fail if it cannot be loaded', async (t) => {
  for (const fails of [false, true]) {
    const at = browser(t), opened = []
    let answer
    const answered = new Promise((resolve, reject) => { answer = fails ? () => reject(new ListWatchError('load', 'no module')) : resolve })
    at.shared = (port) => {
      const channel = new Channel(port, {
        hello: () => '', load: () => answered, wake() {}, close() {},
        open({ collection }) {
          opened.push(collection)
          if (!fails) channel.send({ type: 'records', collection, bytes: encode([[LIVE, '7']]) })
        },
      }, assert.fail)
    }
    const page = await at.page(), collection = page.listWatch(options), other = page.listWatch({ ...options, resource: 'nodes' })
    let loaded = false
    const loading = page.init().then(() => { loaded = true })
    await until(() => opened.length === 2)
    assert.equal(loaded, false)
    answer()
    if (fails) {
      await assert.rejects(loading, { code: 'load', message: 'no module' })
      await stopped(collection, other)
      for (const each of [collection, other]) isStopped(each, 'load')
      assert.equal(at.started.length, 1, 'no other worker is tried')
    } else {
      await loading
      await live(collection, other)
    }
  }
})

test('the console does not repeat a failure to load the module for each collection', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {})
  const page = await browser(t).page(), loading = page.init({ wasm: new Uint8Array(3) })
  const collections = ['pods', 'nodes', 'events'].map((resource) => page.listWatch({ ...options, resource }))
  await assert.rejects(loading, { code: 'load' })
  await stopped(...collections)
  assert.equal(warn.mock.callCount(), 0)
})

test('after a worker has crashed during the load, the application can call init with other options', async (t) => {
  const at = browser(t)
  at.shared = (port) => {
    const channel = new Channel(port, {
      hello: () => '', open() {}, close() {}, wake() {},
      load: () => channel.send({ type: 'broken', error: { message: 'uncaught', code: 'crashed' } }),
    }, assert.fail)
  }
  const page = await at.page(), collection = page.listWatch(options)
  await assert.rejects(page.init(), { code: 'crashed', message: 'uncaught' })
  await stopped(collection)
  isStopped(collection, 'load')
  await page.init({ mode: 'main' })
  assert.equal(at.started.length, 1, 'no other worker is started')
})

test('a worker in Node loads the module of the package from its file', async (t) => {
  for (const mode of ['shared', 'worker']) {
    const page = await browser(t).page()
    await page.init({ mode })
  }
})

test('a page and a worker with different protocol versions do not connect', async (t) => {
  const at = browser(t)
  const seen = []
  at.shared = (port) => {
    new Channel(port, { hello: ({ protocol }) => { seen.push(protocol); return '' }, load() {} }, assert.fail)
  }
  const page = await at.page()
  await page.init()
  assert.deepEqual([seen, at.started[0][2]], [[PROTOCOL], `listwatch-${PROTOCOL}`])

  const { port1, port2 } = new MessageChannel()
  at.ports.push(port1, port2)
  const connect = await at.run()
  connect(port2)
  await assert.rejects(new Channel(port1, {}, assert.fail).call({ type: 'hello', protocol: PROTOCOL + 1, lock: '' }),
    { name: 'ListWatchError', code: 'load', message: `listwatch: the page and its worker are incompatible (version ${PROTOCOL + 1} and version ${PROTOCOL}); reload the page` })
})

test('a page that a worker rejects because of its version does not try another worker type', async (t) => {
  const at = browser(t)
  at.shared = (port) => new Channel(port, { hello() { throw Object.assign(new Error('reload the page'), { code: 'load' }) }, load() {} }, assert.fail)
  const page = await at.page()
  await assert.rejects(page.init(), { code: 'load', message: 'reload the page' })
  assert.equal(at.started.length, 1)
})

test('a page wakes the worker when it comes online, becomes visible or is restored', async (t) => {
  const at = browser(t)
  const woken = []
  at.shared = (port) => new Channel(port, { hello: () => '', load() {}, wake: () => woken.push('woken') }, assert.fail)
  await (await at.page()).init()
  const wakes = async (target, name) => {
    woken.length = 0
    target.dispatchEvent(new Event(name))
    for (let i = 0; i < 5; i++) await turn()
    return woken.length
  }
  assert.deepEqual([await wakes(at.events, 'online'), await wakes(at.events, 'pageshow'), await wakes(at.document, 'visibilitychange')], [1, 1, 1])
  at.document.visibilityState = 'hidden'
  assert.equal(await wakes(at.document, 'visibilitychange'), 0)
})

// In Chromium, a shared worker cannot connect to a server that requests client certificates until a page has connected
// to it.
test('if the shared worker cannot reach a server, the page itself sends requests to the server until a request succeeds', async (t) => {
  const at = browser(t), woken = []
  let channel, collection, online = false
  at.shared = (port) => {
    channel = new Channel(port, { hello: () => '', load() {}, open: (message) => { collection = message.collection }, wake: () => woken.push('woken') }, assert.fail)
  }
  const fetched = t.mock.method(globalThis, 'fetch', async () => {
    if (!online) throw new TypeError('Failed to fetch')
    return new Response()
  })
  const page = await at.page()
  await page.init()
  const pods = page.listWatch({ ...options, server: 'https://host' })
  await until(() => collection)
  const send = (...record) => channel.send({ type: 'records', collection, bytes: encode([record]) })
  const interrupt = () => send(INTERRUPTED, 'network', 'the connection failed', '', '', '1000', '1')
  const counts = () => [fetched.mock.callCount(), woken.length].join()
  interrupt()
  await until(() => counts() === '1,0')
  online = true // the page sends another request, because its first request has failed
  interrupt()
  await until(() => counts() === '2,1')
  interrupt() // the page sends no further request, because its second request has succeeded
  send(LIVE, '9')
  await live(pods)
  assert.equal(counts(), '2,1')
  interrupt()
  await until(() => counts() === '3,2')
  assert.equal(fetched.mock.calls[0].arguments[0], 'https://host')
})

test('a page whose own request fails unexpectedly has no unhandled rejection, and sends another request later', async (t) => {
  const at = browser(t)
  let channel, collection
  at.shared = (port) => { channel = new Channel(port, { hello: () => '', load() {}, open: (message) => { collection = message.collection } }, assert.fail) }
  const fetched = t.mock.method(globalThis, 'fetch', async () => { throw new Error('blocked by an extension') })
  const page = await at.page()
  await page.init()
  page.listWatch({ ...options, server: 'https://host' })
  await until(() => collection)
  for (const n of [1, 2]) {
    channel.send({ type: 'records', collection, bytes: encode([[INTERRUPTED, 'network', 'the connection failed', '', '', '1000', '1']]) })
    await until(() => fetched.mock.callCount() === n)
  }
})

test('a failed connection removes its listeners from the page', async (t) => {
  const at = browser(t), woken = [], signals = []
  for (const target of [at.events, at.document]) {
    t.mock.method(target, 'addEventListener', function (name, f, options) {
      if (options) signals.push(options.signal)
      EventTarget.prototype.addEventListener.call(this, name, f, options)
    })
  }
  const { page } = await opened(at)
  at.shared = (port) => new Channel(port, { hello: () => '', load() {}, open() {}, wake: () => woken.push('woken') }, assert.fail)
  at.workers[0].onerror({ message: 'gone' })
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true, true])
  await page.init()
  at.events.dispatchEvent(new Event('online'))
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(woken.length, 1)
})

test('a page answers token and replay requests until its collection is closed', async (t) => {
  const at = browser(t)
  let channel
  const open = []
  at.shared = (port) => { channel = new Channel(port, { hello: () => '', load() {}, open: ({ collection }) => open.push(collection), close() {} }, assert.fail) }
  const page = await at.page()
  await page.init()
  const collection = page.listWatch({ ...options, token: () => 'jane' })
  await until(() => open.length)
  assert.equal(await channel.call({ type: 'token', collection: open[0] }), 'jane')
  assert.deepEqual(await channel.call({ type: 'replay', collection: open[0] }), [])
  collection.close()
  assert.equal(await channel.call({ type: 'token', collection: open[0] }), '')
  await assert.rejects(channel.call({ type: 'replay', collection: open[0] }), /the collection was closed/)
})
