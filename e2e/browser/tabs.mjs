// Tests many tabs of a page, and tabs that freeze, crash or go offline.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { equal, follow, isAway, show } from './page.mjs'
import { until } from './stage.mjs'

export function tabs(scene) {
  const only = { skip: scene.name === 'chrome' ? false : 'this test needs Chromium' }

  it('twenty tabs share one connection, and closing a tab ends only its own watches', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    const open = (n) => until(`${n} connections`, async () => (await cluster.look()).open === n)
    await cluster.write({ n: 100, seed: 1 })
    const pages = await Promise.all(Array.from({ length: 20 }, () => scene.open(profile, { mode: 'shared' })))
    for (const page of pages) await follow(page, 'all', { server: cluster.url })
    await Promise.all(pages.map((page) => equal(cluster, page)))
    await open(1) // waits for the watch, because a collection becomes live before its watch is open
    const { open: connections, lists, watches } = await cluster.look()
    assert.deepEqual({ connections, lists, watches }, { connections: 1, lists: 1, watches: 1 })

    await follow(pages[18], 'own', { server: cluster.url, labelSelector: 'n=1' })
    await follow(pages[19], 'own', { server: cluster.url, labelSelector: 'n=2' })
    await open(3)
    await pages[18].close()
    await open(2)
    await pages[19].close()
    await open(1)
    await pages[0].close() // the tab that started the worker
    await cluster.write({ n: 100, seed: 2 })
    await Promise.all(pages.slice(1, 18).map((page) => equal(cluster, page)))
    assert.equal((await cluster.look()).lists, 3)
    await Promise.all(pages.slice(1, 18).map((page) => page.close()))
    await open(0)
  }))

  it('tabs that close while other tabs open leave no watch behind', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.write({ n: 100, seed: 1 })
    const pages = []
    for (let i = 0; i < 6; i++) pages.push(await scene.open(profile, { mode: 'shared' }))
    await follow(pages[0], 'all', { server: cluster.url })
    for (let i = 1; i < pages.length; i++) {
      await follow(pages[i], 'all', { server: cluster.url })
      await pages[i - 1].close()
    }
    await equal(cluster, pages.at(-1))
    await until('one connection', async () => (await cluster.look()).open === 1)
    await pages.at(-1).close()
    await until('no connection', async () => (await cluster.look()).open === 0)
  }))

  it('a tab crash does not affect other tabs, and a crashed shared worker is replaced', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.write({ n: 100, seed: 1 })
    const pages = []
    for (let i = 0; i < 4; i++) pages.push(await scene.open(profile, { mode: 'shared' }))
    for (const page of pages) {
      await follow(page, 'all', { server: cluster.url })
      await equal(cluster, page)
    }
    const living = new Set(pages)
    for (const page of pages) page.on('error', () => living.delete(page)) // puppeteer emits "error" when a page crashes
    for (const page of pages.slice(0, 3)) { // the first of them started the worker
      if (!living.has(page)) continue
      await crash(page)
      await until('the crash', () => !living.has(page))
      for (const other of living) {
        await until('one connection and a live collection', async () => {
          const { changes, state } = await show(other, 'all')
          assert.deepEqual(changes, [], 'a crashed tab must not cause changes in other tabs')
          return state.phase === 'live' && (await cluster.look()).open === 1
        })
      }
      await cluster.write({ n: 50, seed: living.size })
      await Promise.all([...living].map((page) => equal(cluster, page)))
      await until('one connection', async () => (await cluster.look()).open === (living.size ? 1 : 0))
    }
  }))

  for (const mode of ['main', 'worker', 'shared']) {
    it(`${mode}: a resumed tab shows the changes since it was frozen`, only, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url })
      await equal(cluster, page)
      await freeze(page, true)
      await cluster.write({ n: 500, seed: 1 })
      await cluster.drop()
      await cluster.write({ n: 500, seed: 2 })
      await cluster.compact()
      await freeze(page, false)
      await equal(cluster, page)
    }))
  }

  it('a frozen tab does not block token updates from other tabs', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ tokens: { first: true, second: true } })
    const [frozen, page] = [await scene.open(profile, { mode: 'shared' }), await scene.open(profile, { mode: 'shared' })]
    for (const each of [frozen, page]) {
      await follow(each, 'all', { server: cluster.url, ask: 'first' })
      await equal(cluster, each)
    }
    await page.evaluate(() => globalThis.stage.setToken('all', 'second'))
    await freeze(frozen, true)
    await cluster.revoke({ token: 'first' })
    await cluster.end()
    await cluster.write({ n: 20, seed: 1 })
    await equal(cluster, page)
  }))

  it('a tab that opens while the only other tab is frozen starts its own watch', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    const [frozen, late] = [await scene.open(profile, { mode: 'shared' }), await scene.open(profile, { mode: 'shared' })]
    await follow(frozen, 'all', { server: cluster.url })
    await equal(cluster, frozen)
    await freeze(frozen, true)
    await cluster.write({ n: 20, seed: 1 })
    await follow(late, 'all', { server: cluster.url })
    await equal(cluster, late)
    await freeze(frozen, false)
    await equal(cluster, frozen)
  }))

  // If one tab responds too slowly, the other tabs may open their own watches. wasm/test/shared.test.mjs checks that
  // tabs normally share one watch.
  it('tabs that open next to a frozen tab and then close leave only the watch of the frozen tab', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    const pages = []
    for (let i = 0; i < 4; i++) pages.push(await scene.open(profile, { mode: 'shared' }))
    const [frozen, ...late] = pages
    await follow(frozen, 'all', { server: cluster.url })
    await equal(cluster, frozen)
    await freeze(frozen, true)
    await cluster.write({ n: 20, seed: 1 })
    await Promise.all(late.map((page) => follow(page, 'all', { server: cluster.url })))
    await Promise.all(late.map((page) => equal(cluster, page)))
    await Promise.all(late.map((page) => page.close()))
    await until('the watch of the frozen tab', async () => (await cluster.look()).open === 1)
    await freeze(frozen, false)
    await equal(cluster, frozen)
  }))

  for (const mode of ['main', 'worker', 'shared']) {
    it(`${mode}: a page that comes back online resumes without a relist`, only, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url })
      await equal(cluster, page)
      await until('the watch', async () => (await cluster.look()).open === 1)
      const setOffline = await networkOf(profile, page, mode)
      await setOffline(true)
      await cluster.drop()
      await isAway(page)
      await until('a failed retry', async () => /no response/.test((await show(page, 'all')).state.cause.message))
      await cluster.write({ n: 50, seed: 1 })
      await setOffline(false)
      assert.equal((await equal(cluster, page)).has.lists, 1)
    }))
  }
}

// Returns a function that switches a page offline or online. A shared worker needs its own session, but a dedicated
// worker does not.
async function networkOf(profile, page, mode) {
  const sessions = [await page.createCDPSession()]
  if (mode === 'shared') {
    const worker = profile.browser().targets().find((target) => target.browserContext() === profile && target.type() === 'shared_worker')
    sessions.push(await worker.createCDPSession())
  }
  return async (offline) => {
    for (const session of sessions) {
      await session.send('Network.enable')
      await session.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 })
    }
  }
}

const freeze = async (page, frozen) => {
  const session = await page.createCDPSession()
  await session.send('Page.setWebLifecycleState', { state: frozen ? 'frozen' : 'active' })
  await session.detach()
}

// Crashes a tab, and with it all other tabs and shared workers in the same process.
const crash = async (page) => {
  const session = await page.createCDPSession()
  session.send('Page.crash').catch(() => {}) // the command never returns from a crashed page
}
