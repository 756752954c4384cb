// Tests the lifecycle of workers, and pages that must not start workers. The tests need no API server, because they use
// the WASM module of wasm/test/trap.mjs.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { trap } from '../../wasm/test/trap.mjs'
import { openPage } from './launch.mjs'
import { until } from './stage.mjs'

const TYPES = { js: 'text/javascript', wasm: 'application/wasm' }
const PAGES = { // the body of each page, and its content security policy
  '/plain.html': [''],
  '/typed.html': ['', "require-trusted-types-for 'script'"],
  '/framed.html': ['<iframe sandbox="allow-scripts" src="/plain.html"></iframe>'],
}

/** Starts two servers that serve the pages and the package. Each page may load the package from either origin. */
async function places() {
  const refused = new Set() // paths that return 404
  const serve = async ({ url }, response) => {
    const headers = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' }
    if (refused.has(url)) return response.writeHead(404, headers).end()
    if (PAGES[url]) {
      const [body, policy] = PAGES[url]
      if (policy) headers['Content-Security-Policy'] = policy
      return response.writeHead(200, { ...headers, 'Content-Type': 'text/html' }).end(`<!doctype html><link rel="icon" href="data:,">${body}`)
    }
    if (url === '/octets') return response.writeHead(200, { ...headers, 'Content-Type': 'application/octet-stream' }).end(trap)
    try {
      const bytes = await readFile(new URL(`../../wasm/${url.replace('/listwatch/', '')}`, import.meta.url))
      response.writeHead(200, { ...headers, 'Content-Type': TYPES[url.split('.').pop()] }).end(bytes)
    } catch (error) {
      response.writeHead(404, headers).end(error.message)
    }
  }
  const servers = await Promise.all([0, 1].map(() => new Promise((resolve) => {
    const server = createServer(serve).listen(0, '127.0.0.1', () => resolve(server))
  })))
  const [page, cdn] = servers.map((server) => `http://127.0.0.1:${server.address().port}`)
  return { page, cdn, refused, close: () => servers.forEach((server) => { server.closeAllConnections(); server.close() }) }
}

/**
 * Loads the package into a page or a frame. Returns "loaded" or the error. The module is trap.mjs, or the package's own one
 * if `real` is set.
 */
const load = (frame, base, options) => frame.evaluate(async (base, options, bytes) => {
  const { init, listWatch } = await import(`${base}/listwatch/index.js`)
  globalThis.collections = []
  globalThis.open = () => globalThis.collections.push(listWatch({ server: 'http://host', resource: 'pods' }))
  try {
    await init({ ...options, wasm: bytes ? new Uint8Array(bytes) : options.wasm })
    return 'loaded'
  } catch ({ name, code, message }) {
    return { name, code, message }
  }
}, base, options, options.real ? undefined : [...trap])

const states = (frame) => frame.evaluate(() => globalThis.collections.map(({ state: { phase, cause } }) => (cause ? `${phase} ${cause.code}` : phase)))

async function open(frame) {
  await frame.evaluate(() => globalThis.open())
  return are(frame, 'live')
}

/** Waits until the newest collection reaches the given state. */
const are = (frame, state) => until(state, async () => (await states(frame)).at(-1) === state)

export function inPlaces(scene, modes) {
  const test = (words, f, options = {}) => it(words, options, () => scene.fresh(async (profile) => {
    const at = await places()
    try {
      const page = await openPage(profile)
      await f({ ...at, page, profile, at: (path) => page.goto(at.page + path), base: at.page })
    } finally {
      at.close()
    }
  }))
  const chromium = { skip: scene.name === 'chrome' ? false : 'this test needs Chromium' }

  for (const mode of modes) {
    test(`${mode}: after a trap in the module, the collections restart, but not more often than three times a minute`, async ({ page, at, base }) => {
      const warnings = []
      page.on('console', (message) => /the collection restarts/.test(message.text()) && warnings.push(message.text()))
      await at('/plain.html')
      assert.equal(await load(page, base, { mode }), 'loaded')
      await open(page)
      await open(page)
      for (let n = 1; n <= 4; n++) {
        await page.evaluate(() => globalThis.dispatchEvent(new Event('online'))) // makes the WASM module trap, as in a crash
        if (n <= 3) await until('the restart', async () => warnings.length === 2 * n && (await states(page)).join() === 'live,live')
      }
      await are(page, 'stopped crashed')
      assert.deepEqual(await states(page), ['stopped crashed', 'stopped crashed'])
      await open(page)
    })
  }

  for (const mode of ['worker', 'shared']) {
    test(`${mode}: the collections stop if a killed worker is replaced and the script of the new worker fails to load`, async ({ page, profile, at, base, refused }) => {
      await at('/plain.html')
      await page.evaluate(() => {
        globalThis.started = []
        for (const kind of ['Worker', 'SharedWorker']) {
          globalThis[kind] = class extends globalThis[kind] {
            constructor(...all) {
              super(...all)
              globalThis.started.push(this)
            }
          }
        }
      })
      assert.equal(await load(page, base, { mode }), 'loaded')
      await open(page)
      const kill = async () => {
        if (mode === 'worker') return page.evaluate(() => globalThis.started.at(-1).terminate())
        const target = profile.browser().targets().find((target) => target.browserContext() === profile && target.type() === 'shared_worker')
        await (await target.worker()).evaluate(() => { setTimeout(() => globalThis.close()) }) // closes the worker after this call has returned
      }
      await kill()
      await until('the new worker', () => page.evaluate(() => globalThis.started.length === 2))
      await are(page, 'live')
      refused.add('/listwatch/worker.js')
      await kill()
      await are(page, 'stopped load')
      refused.clear()
      await open(page)
    }, mode === 'shared' ? chromium : {})
  }

  test('a package from another origin runs in a worker and loads its own module', async ({ page, at, cdn }) => {
    await at('/plain.html')
    assert.equal(await load(page, cdn, {}), 'loaded')
    await open(page)
    if (scene.name === 'chrome') assert.equal(page.workers().length, 1)
    await at('/plain.html')
    assert.equal(await load(page, cdn, { mode: 'worker', real: true }), 'loaded')
    await at('/plain.html')
    const { name, code, message } = await load(page, cdn, { mode: 'shared' })
    assert.deepEqual([name, code], ['ListWatchError', 'load'])
    assert.ok(message.includes(`${cdn}/listwatch/worker.js could not be started`), message)
  })

  test('a page that requires trusted types runs the module', async ({ page, at, base }) => {
    await at('/typed.html')
    assert.equal(await load(page, base, {}), 'loaded')
    await open(page)
  })

  test('a sandboxed frame runs the module', async ({ page, at, base }) => {
    await at('/framed.html')
    const frame = await until('the frame', () => page.frames().find((each) => each.url().endsWith('/plain.html')))
    assert.equal(await load(frame, base, {}), 'loaded')
    await open(frame)
  })

  test('a missing worker script causes an error only if the mode requires a worker', async ({ page, at, base, refused }) => {
    refused.add('/listwatch/worker.js')
    await at('/plain.html')
    assert.equal(await load(page, base, {}), 'loaded')
    await open(page)
    for (const mode of ['shared', 'worker']) {
      await at('/plain.html')
      const { code, message } = await load(page, base, { mode })
      assert.equal(code, 'load')
      assert.match(message, /bundler.*init\({ worker, wasm }\)/)
    }
  })

  test('if no worker answers, the page runs the module itself', async ({ page, at, base }) => {
    await at('/plain.html')
    const worker = await page.evaluate(() => URL.createObjectURL(new Blob(['globalThis.onconnect = () => {}'], { type: 'text/javascript' })))
    assert.equal(await load(page, base, { worker }), 'loaded')
    await open(page)
  })

  test('if the server sends HTML instead of the worker and the module, the error contains a hint about bundlers', async ({ page, at, base, refused }) => {
    refused.add('/listwatch/worker.js')
    await at('/plain.html')
    const { code, message } = await load(page, base, { real: true, wasm: `${base}/plain.html`, worker: `${base}/plain.html` })
    assert.equal(code, 'load')
    assert.match(message, /plain\.html answers with an HTML page.*bundler.*init\({ worker, wasm }\)/)
  })

  for (const mode of modes) {
    test(`${mode}: the module loads even if its content type is wrong`, async ({ page, at, base }) => {
      await at('/plain.html')
      assert.equal(await load(page, base, { mode, real: true, wasm: `${base}/octets` }), 'loaded')
      await open(page)
    })
  }

  for (const mode of ['worker', 'shared']) {
    test(`${mode}: the single-file worker runs the module`, async ({ page, at, base, cdn, refused }) => {
      refused.add('/listwatch/worker.js')
      await at('/plain.html')
      assert.equal(await load(page, base, { mode, worker: '/listwatch/listwatch.worker.js' }), 'loaded')
      await open(page)
      if (mode === 'shared') return // browsers do not start a shared worker from another origin
      await at('/plain.html')
      assert.equal(await load(page, base, { mode, worker: `${cdn}/listwatch/listwatch.worker.js` }), 'loaded')
      await open(page)
    })
  }
}
