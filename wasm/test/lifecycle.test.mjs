// The lifecycle of a worker as its pages see it: fake workers that run worker.js, with a module that traps on demand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../connect.js'
import { Engine } from '../engine.js'
import { Channel, PROTOCOL } from '../messages.js'
import { INTERRUPTED, LIVE, encode } from '../records.js'
import { browser } from './browser.mjs'
import { trap } from './trap.mjs'

const turn = () => new Promise(setImmediate)
const until = async (holds) => {
  for (const deadline = Date.now() + 10_000; !holds(); await turn()) assert.ok(Date.now() < deadline, `waited in vain: ${holds}`)
}
const options = { server: 'http://host', resource: 'pods' }
const isStopped = ({ state }, code) => assert.deepEqual([state.phase, state.stale, state.cause?.name, state.cause?.code], ['stopped', true, 'ListWatchError', code])
const live = (...all) => until(() => all.every(({ state }) => state.phase === 'live'))
const stopped = (...all) => until(() => all.every(({ state }) => state.phase === 'stopped'))

async function opened(at, init = { wasm: trap }) {
  const page = await at.page()
  await page.init(init)
  const collection = page.listWatch(options)
  await live(collection)
  return { page, collection }
}

for (const mode of ['shared', 'worker', 'main']) {
  test(`${mode}: a trap stops every collection, and the next one starts the module again`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    const nodes = page.listWatch({ ...options, resource: 'nodes' })
    await live(nodes)
    page.wake()
    await stopped(collection, nodes)
    for (const each of [collection, nodes]) isStopped(each, 'crashed')
    const again = page.listWatch(options)
    await live(again)
    assert.equal(at.started.length, mode === 'main' ? 0 : 1, 'the worker goes on')
  })
}

// Chromium connects a page to a shared worker that has just closed or crashed. That worker never answers.
test('a shared worker that accepts a page and never answers is not waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const at = browser(t, { shared() {} })
  const page = await at.page()
  const loading = page.init({ mode: 'shared', wasm: trap })
  await until(() => at.started.length === 1)
  at.shared = 'works'
  t.mock.timers.tick(5000)
  for (let i = 0; i < 100; i++) await turn()
  assert.equal(at.started.length, 2, 'the page connects again')
  await loading
})

test('a trap in the shared worker stops the collections of every page', async (t) => {
  const at = browser(t)
  const first = await opened(at), second = await opened(at)
  first.page.wake()
  await stopped(first.collection, second.collection)
  isStopped(second.collection, 'crashed')
  const again = [first, second].map(({ page }) => page.listWatch(options))
  await live(...again)
})

for (const [type, event] of [['error', { error: new TypeError('a mistake') }], ['unhandledrejection', { reason: new TypeError('a mistake') }]]) {
  test(`an uncaught error in a worker stops every collection: ${type}`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at)
    const uncaught = Object.assign(new Event(type, { cancelable: true }), event)
    at.events.dispatchEvent(uncaught)
    assert.ok(uncaught.defaultPrevented)
    await stopped(collection)
    isStopped(collection, 'crashed')
    assert.match(collection.state.cause.message, /a mistake/)
    await live(page.listWatch(options))
  })
}

test('an uncaught error in a worker before the module is loaded is left to the browser', async (t) => {
  const at = browser(t)
  await at.run()
  const uncaught = Object.assign(new Event('error', { cancelable: true }), { error: new Error('early') })
  at.events.dispatchEvent(uncaught)
  assert.equal(uncaught.defaultPrevented, false)
})

for (const mode of ['shared', 'worker']) {
  test(`${mode}: a worker that is killed is replaced, and its collections go on`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    const closed = page.listWatch({ ...options, resource: 'nodes' })
    await live(closed)
    closed.close()
    for (const workers of [2, 3]) {
      at.die()
      at.locks.kill(at.locks.names.at(-1))
      await until(() => collection.state.phase === 'interrupted')
      assert.match(collection.state.cause.message, /the worker is gone; another starts/)
      await live(collection)
      assert.equal(at.started.length, workers)
    }
  })

  test(`${mode}: a first worker that dies before a collection is live is replaced`, async (t) => {
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

  test(`${mode}: the worker loads the module that is next to the package, or the one of the page`, async (t) => {
    const loaded = []
    const at = browser(t, { [mode]: (port) => new Channel(port, { hello: () => '', load: ({ wasm }) => { loaded.push(wasm) } }, assert.fail) })
    for (const wasm of [undefined, './other.wasm', new URL('http://cdn/other.wasm')]) await (await at.page()).init({ mode, wasm })
    assert.deepEqual(loaded, [new URL('../listwatch.wasm', import.meta.url).href, 'http://page/other.wasm', 'http://cdn/other.wasm'])
    for (const wasm of [7, new Response()]) await assert.rejects((await at.page()).init({ mode, wasm }), { code: 'invalid', message: /a worker needs wasm as a URL, bytes or a module/ })
  })

  test(`${mode}: a successor that dies before a collection is live has no successor`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    let opens = 0
    at.die()
    at[mode] = (port) => {
      at.locks.request('the successor', () => new Promise(() => {}))
      new Channel(port, { hello: () => 'the successor', load() {}, open: () => { opens++ } }, assert.fail)
    }
    at.locks.kill(at.locks.names.at(-1))
    await until(() => opens && at.locks.held('the successor'))
    at.locks.kill('the successor')
    await stopped(collection)
    isStopped(collection, 'crashed')
    assert.match(collection.state.cause.message, /the worker is gone; open the collection again/)
    assert.equal(at.started.length, 2)
    at[mode] = 'works'
    await live(page.listWatch(options))
  })

  test(`${mode}: if the successor of a killed worker is refused, the collections stop, and the next one begins anew`, async (t) => {
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
    assert.deepEqual(at.started.map(([kind]) => kind), [mode, mode, mode], 'the mode and the module stay')
  })

  test(`${mode}: a worker that dies while it loads the module is not waited for`, async (t) => {
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

  test(`${mode}: an error event of a running worker stops every collection, and the next one begins anew`, async (t) => {
    const at = browser(t)
    const { page, collection } = await opened(at, { wasm: trap, mode })
    const pageLock = at.locks.names[0]
    const closes = mode === 'shared' && t.mock.method(at.workers[0].port, 'close')
    at.workers[0].onerror({ message: 'out of memory' })
    isStopped(collection, 'crashed')
    assert.match(collection.state.cause.message, /out of memory/)
    if (mode === 'worker') assert.ok(at.workers[0].terminated)
    else assert.equal(closes.mock.callCount(), 1)
    if (mode === 'shared') await until(() => !at.locks.held(pageLock)) // so the shared worker ends what this page followed
    at.die()
    await live(page.listWatch(options))
    assert.equal(at.started.length, 2)
  })

  test(`${mode}: a message of the worker that cannot be read stops every collection`, async (t) => {
    const at = browser(t)
    const { collection } = await opened(at, { wasm: trap, mode })
    if (mode === 'shared') at.workers[0].port.onmessageerror({})
    else at.ports[0].onmessageerror({})
    isStopped(collection, 'load')
  })
}

test('a message of the page that the worker does not understand stops the collections of that page only', async (t) => {
  const at = browser(t)
  const first = await opened(at), second = await opened(at)
  at.ports[0].postMessage({ type: 'from the future' })
  await stopped(first.collection)
  isStopped(first.collection, 'load')
  assert.match(first.collection.state.cause.message, /do not understand the message from the future .*; reload the page/)
  await live(second.collection)
})

test('a page that the worker does not understand is left, also without locks', async (t) => {
  const at = browser(t)
  globalThis.navigator = {}
  const { collection } = await opened(at)
  at.ports[0].postMessage({ type: 'from the future' })
  await stopped(collection)
  await until(() => !at.ports[1].onmessage)
})

test('a collection that is opened on a link that has failed fails at once', async (t) => {
  const at = browser(t), errors = []
  let failures = 0
  const link = await connect({ wasm: trap, mode: 'worker' }, () => failures++)
  at.workers[0].onerror({ message: 'out of memory' })
  link.open({}, { failed: (error) => errors.push(error) })()
  assert.equal(failures, 1)
  assert.deepEqual(errors.map(({ code, message }) => [code, /out of memory/.test(message)]), [['crashed', true]])
})

test('a page that goes takes only its own collections with it', async (t) => {
  const at = browser(t)
  const first = await opened(at), second = await opened(at)
  at.locks.kill(at.locks.names[0]) // of the first page
  await until(() => !at.ports[1].onmessage) // the worker listens to it no more
  first.page.listWatch(options)
  await live(second.collection, second.page.listWatch({ ...options, resource: 'nodes' }))
})

test('the shared worker ends the collections of a page that is gone', async (t) => {
  const at = browser(t)
  const stops = t.mock.method(Engine.prototype, 'stop')
  const first = await opened(at), second = await opened(at)
  await live(first.page.listWatch({ ...options, resource: 'nodes' }))
  at.locks.kill(at.locks.names[0]) // of the first page
  await until(() => !at.ports[1].onmessage) // the worker listens to it no more
  assert.equal(stops.mock.callCount(), 1, 'only the first page follows nodes')
  await live(second.collection)
})

test('a page whose frame may not use locks works without them', async (t) => {
  const at = browser(t)
  at.locks.request = async () => { throw new DOMException('a sandboxed frame', 'SecurityError') }
  await opened(at)
  assert.deepEqual(at.started.map(([kind]) => kind), ['shared'])
})

test('a lock request that fails for an unknown reason fails the start of the shared worker', async (t) => {
  const at = browser(t), page = await at.page()
  at.locks.request = async () => { throw new Error('the lock manager is broken') }
  await assert.rejects(page.init({ wasm: trap, mode: 'shared' }), { name: 'ListWatchError', message: /the lock manager is broken/ })
  assert.equal(at.started.length, 0)
})

for (const [words, how, kinds] of [
  ['a shared worker that cannot be constructed', { shared: 'throws' }, ['shared', 'worker']],
  ['a shared worker that cannot be loaded', { shared: 'errors' }, ['shared', 'worker']],
  ['workers that cannot be constructed', { shared: 'throws', worker: 'throws' }, ['shared', 'worker']],
  ['workers that cannot be loaded', { shared: 'errors', worker: 'errors' }, ['shared', 'worker']],
]) {
  test(`the page does without ${words}`, async (t) => {
    const at = browser(t, how)
    await opened(at)
    assert.deepEqual(at.started.map(([kind]) => kind), kinds)
  })
  for (const mode of ['shared', 'worker']) {
    if (!how[mode]) continue
    test(`a mode that the user chose is an error without ${words}: ${mode}`, async (t) => {
      const at = browser(t, how), page = await at.page()
      await assert.rejects(page.init({ wasm: trap, mode }), ({ name, code, message }) => {
        assert.deepEqual([name, code], ['ListWatchError', 'load'])
        assert.match(message, /file:.*\/wasm\/worker\.js could not be started.*; serve it from the origin of the page, .*init\({ mode: "main" }\)/)
        return true
      })
      await page.init({ wasm: trap, mode: 'main' })
      await live(page.listWatch(options))
    })
  }
}

test('a worker of another origin is started through a blob that imports it', async (t) => {
  const at = browser(t)
  globalThis.origin = 'http://page'
  const blobs = []
  t.mock.method(URL, 'createObjectURL', (blob) => { blobs.push(blob); return 'blob:1' })
  const revoked = t.mock.method(URL, 'revokeObjectURL', () => {})
  const { collection } = await opened(at, { wasm: trap, mode: 'worker' })
  assert.equal(at.started[0][1], 'blob:1')
  assert.match(await blobs[0].text(), /^import "file:.*\/wasm\/worker\.js"$/)
  at.workers[0].onerror({ message: 'gone' })
  isStopped(collection, 'crashed')
  assert.equal(revoked.mock.callCount(), 1)
})

test('a module that does not load is no reason to try another kind of worker', async (t) => {
  const at = browser(t), page = await at.page()
  await assert.rejects(page.init({ wasm: new Uint8Array(3) }), { code: 'load', message: /could not be loaded/ })
  assert.equal(at.started.length, 1)
  await page.init({ wasm: trap })
  await live(page.listWatch(options))
})

test('a page and a worker of different versions do not meet, and if they do, the page is to be reloaded', async (t) => {
  const at = browser(t)
  const seen = []
  at.shared = (port) => {
    new Channel(port, { hello: ({ protocol }) => { seen.push(protocol); return '' }, load() {} }, assert.fail)
  }
  const page = await at.page()
  await page.init()
  assert.deepEqual([seen, at.started[0][2]], [[PROTOCOL], `listwatch ${PROTOCOL}`])

  const { port1, port2 } = new MessageChannel()
  at.ports.push(port1, port2)
  const connect = await at.run()
  connect(port2)
  await assert.rejects(new Channel(port1, {}, assert.fail).call({ type: 'hello', protocol: PROTOCOL + 1, lock: '' }),
    { name: 'ListWatchError', code: 'load', message: /version 2 .*version 1; reload the page/ })
})

test('a page whose version the worker refuses fails, and does not try another kind of worker', async (t) => {
  const at = browser(t)
  at.shared = (port) => new Channel(port, { hello() { throw Object.assign(new Error('reload the page'), { code: 'load' }) } }, assert.fail)
  const page = await at.page()
  await assert.rejects(page.init(), { code: 'load', message: 'reload the page' })
  assert.equal(at.started.length, 1)
})

test('a page that comes online, is shown or is restored wakes the worker', async (t) => {
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

// Chromium rejects connections of a shared worker to a server that requests client certificates until a page has connected.
test('a page connects to a server that its shared worker cannot reach, until that succeeds once', async (t) => {
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
  online = true // the first attempt failed, so there is a second one
  interrupt()
  await until(() => counts() === '2,1')
  interrupt() // the second attempt succeeded, so there is no third one
  send(LIVE, '9')
  await live(pods)
  assert.equal(counts(), '2,1')
  interrupt()
  await until(() => counts() === '3,2')
  assert.equal(fetched.mock.calls[0].arguments[0], 'https://host')
})

test('a link that has failed listens to the page no more', async (t) => {
  const at = browser(t), woken = [], signals = []
  for (const target of [at.events, at.document]) {
    t.mock.method(target, 'addEventListener', function (name, f, options) {
      if (options) signals.push(options.signal)
      EventTarget.prototype.addEventListener.call(this, name, f, options)
    })
  }
  const { page } = await opened(at)
  at.workers[0].onerror({ message: 'gone' })
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true, true])
  at.shared = (port) => new Channel(port, { hello: () => '', load() {}, wake: () => woken.push('woken') }, assert.fail)
  await page.init()
  at.events.dispatchEvent(new Event('online'))
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(woken.length, 1)
})

test('a token and a description of the collection come from the page, until it has closed the collection', async (t) => {
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
