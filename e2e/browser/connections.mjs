// Tests pages of a server that supports only HTTP/1.1. A browser opens at most six HTTP/1.1 connections to a host, for
// all tabs together, so watches must leave connections for other requests.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openPage } from './launch.mjs'
import { equal, follow, show } from './page.mjs'
import { front } from './front.mjs'
import { until } from './stage.mjs'

const TEN = Array.from({ length: 10 }, (_, n) => `${n}`)

/** Opens a page of front.mjs, and loads the package into the page. */
export async function open(profile, { url }, options) {
  const page = await openPage(profile)
  await page.goto(`${url}/`)
  await page.waitForFunction('globalThis.stage', { polling: 20 })
  await page.evaluate((options) => globalThis.stage.load(options), options)
  return page
}

// Sends three concurrent requests with fetch and returns their status codes.
const own = (page, path) => page.evaluate(async (path) => Promise.all([1, 2, 3].map(async () => {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(30000) })
  await response.text()
  return response.status
})), path)

/**
 * Opens ten collections with different label selectors in one page. Checks that each collection receives its object and
 * that other requests of the page succeed.
 * @param put creates an object with the given name and labels
 */
export async function ten(page, at, path, put, { prefix = 'cm', ...options } = {}) {
  for (const n of TEN) await follow(page, n, { server: at.url, labelSelector: `n=${n}`, ...options })
  for (const n of TEN) await until(`${n} is live`, async () => (await show(page, n)).state.phase === 'live')
  assert.deepEqual(await own(page, path), [200, 200, 200])
  await change(page, path, put, `${prefix}-a`)
}

/** Adds an object to each of the ten collections and waits until the page has received all of them. */
export async function change(page, path, put, prefix) {
  for (const n of TEN) await put(`${prefix}-${n}`, { n })
  await until(`the objects with the prefix ${prefix}`, async () => {
    const all = await Promise.all(TEN.map((n) => show(page, n)))
    return all.every(({ objects }, n) => Object.keys(objects).some((key) => key.endsWith(`/${prefix}-${n}`)))
  })
  assert.deepEqual(await own(page, path), [200, 200, 200])
}

/**
 * Checks that a page had at most two concurrent HTTP watches. If a WebSocket was rejected, a third, short watch may
 * find out why.
 */
export const bounded = ({ seen }) => assert.ok(seen.most <= 2 + (seen.refused ? 1 : 0), `the page had ${seen.most} concurrent watches over HTTP`)

export function connections(scene) {
  const path = '/api/v1/namespaces/default/configmaps?limit=1'
  const putter = (cluster) => (name, labels) => cluster.put({ object: { metadata: { name, namespace: 'default', labels }, data: {} } })
  const fronted = (options, f) => () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster(options)
    const at = await front(scene.stage.url, cluster.url, options)
    try {
      await f(profile, at, cluster)
    } finally {
      at.close()
      await cluster.stop()
    }
  })

  it('HTTP/1.1: ten collections use two connections and WebSockets, and the page\'s own requests succeed', fronted({}, async (profile, at, cluster) => {
    const page = await open(profile, at, { mode: 'shared' })
    await ten(page, at, path, putter(cluster))
    await change(page, path, putter(cluster), 'b')
    bounded(at)
    await until('a watch for each collection', () => at.seen.watches + at.seen.sockets === 10)
  }))

  for (const [condition, options, more] of [['server without WebSocket', { sockets: false }, {}], ['transport http', {}, { transport: 'http' }], ['headers', {}, { headers: { 'X-Requested-With': 'test' } }]]) {
    it(`HTTP/1.1, ${condition}: ten collections report that they take turns on two connections, and the page's own requests succeed`, fronted(options, async (profile, at, cluster) => {
      const page = await open(profile, at, { mode: 'shared' }), warnings = []
      page.on('console', (message) => /take turns/.test(message.text()) && warnings.push(message.text()))
      await ten(page, at, path, putter(cluster), more)
      bounded(at)
      assert.equal(at.seen.sockets, 0)
      await until('a warning in the console', () => warnings.length)
      assert.ok(at.seen.refused <= 2, `${at.seen.refused} WebSockets were rejected`)
      const all = await until('all ten collections report "turns", including the two with a connection', async () => {
        const shown = await Promise.all(TEN.map((n) => show(page, n)))
        return shown.every(({ state }) => state.cause?.code === 'turns') && shown
      })
      for (const { state } of all) {
        assert.match(state.cause.message, /HTTP\/2/)
        assert.equal(state.phase, 'live')
      }
      await page.evaluate(() => {
        globalThis.causes = new Set()
        for (const { collection } of globalThis.stage.followed.values()) {
          collection.subscribe(() => globalThis.causes.add(collection.state.cause?.code ?? 'none'))
        }
      })
      await change(page, path, putter(cluster), 'b')
      assert.deepEqual(await page.evaluate(() => [...globalThis.causes]), ['turns'], 'the cause must remain set during a turn')
      assert.equal(warnings.length, 1)
      assert.match(warnings[0], /^listwatch: watches take turns .*enable HTTP\/2 on the server, or allow WebSockets .*ws: true/)
    }))
  }

  it('HTTP/1.1 without WebSockets: if the server dies behind a proxy that keeps its responses open, no collection stays live', fronted({ sockets: false, keeps: true }, async (profile, at, cluster) => {
    const page = await open(profile, at, { mode: 'shared' })
    await ten(page, at, path, putter(cluster))
    await until('all ten collections report "turns"', async () => (await Promise.all(TEN.map((n) => show(page, n)))).every(({ state }) => state.cause?.code === 'turns'))
    await cluster.stop()
    await until('stale collections with the reason', async () => (await Promise.all(TEN.map((n) => show(page, n))))
      .every(({ state }) => state.phase === 'stale' && state.cause.code === 'status'), 30)
  }))

  it('HTTP/1.1: six tabs, each with its own worker, share two connections', fronted({}, async (profile, at, cluster) => {
    const put = putter(cluster), pages = []
    for (let n = 0; n < 6; n++) {
      const page = await open(profile, at, { mode: 'worker' })
      await follow(page, 'all', { server: at.url, labelSelector: `n=${n}` })
      await until(`tab ${n} is live`, async () => (await show(page, 'all')).state.phase === 'live')
      pages.push(page)
    }
    for (let n = 0; n < 6; n++) await put(`cm-${n}`, { n: `${n}` })
    for (const page of pages) {
      await until('the change', async () => Object.keys((await show(page, 'all')).objects).length === 1)
      assert.deepEqual(await own(page, path), [200, 200, 200])
    }
    bounded(at)
    await until('a watch for each tab', () => at.seen.watches + at.seen.sockets === 6)
  }))

  // In Firefox, fetch() resolves with the first byte of the body. Without changes, the server sends no bytes.
  for (const transport of ['http', 'auto']) {
    it(`HTTP/1.1 without WebSockets, transport ${transport}: a quiet collection is complete immediately after its list, and live at the latest with the first change`, fronted({ quiet: true, sockets: false }, async (profile, at, cluster) => {
      const page = await open(profile, at, { mode: 'main' })
      await cluster.hold()
      await follow(page, 'all', { server: at.url, transport })
      const before = await show(page, 'all')
      assert.notEqual(before.state.phase, 'live')
      assert.equal(before.outcome, undefined)
      await page.evaluate(() => { // reads the first state that the page renders, when the list is complete
        const { collection } = globalThis.stage.followed.get('all')
        globalThis.first = collection.synced.then(() => collection.state.phase)
      })
      await cluster.release()
      assert.equal(await page.evaluate(() => globalThis.first), 'listing', 'the watch must not be open yet')
      await putter(cluster)('a')
      await equal(cluster, page)
    }))
  }
}
