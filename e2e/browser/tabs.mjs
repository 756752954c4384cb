// Many tabs, and tabs that sleep, crash or are without a network.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { equal, follow, isAway, show } from './page.mjs'
import { until } from './stage.mjs'

export function tabs(scene) {
  const only = { skip: scene.name === 'chrome' ? false : 'only Chromium can be told to, in chromium.test.mjs' }

  it('twenty tabs share one connection, and whoever goes takes only its own with it', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    const open = (n) => until(`${n} connections`, async () => (await cluster.look()).open === n)
    await cluster.write({ n: 100, seed: 1 })
    const pages = await Promise.all(Array.from({ length: 20 }, () => scene.open(profile, { mode: 'shared' })))
    for (const page of pages) await follow(page, 'all', { server: cluster.url })
    await Promise.all(pages.map((page) => equal(cluster, page)))
    await open(1) // a complete list is live before its watch is open
    const { open: connections, lists, watches } = await cluster.look()
    assert.deepEqual({ connections, lists, watches }, { connections: 1, lists: 1, watches: 1 })

    await follow(pages[18], 'own', { server: cluster.url, labelSelector: 'n=1' })
    await follow(pages[19], 'own', { server: cluster.url, labelSelector: 'n=2' })
    await open(3)
    await pages[18].close()
    await open(2)
    await pages[19].close()
    await open(1)
    await pages[0].close() // which has opened the worker
    await cluster.write({ n: 100, seed: 2 })
    await Promise.all(pages.slice(1, 18).map((page) => equal(cluster, page)))
    assert.equal((await cluster.look()).lists, 3)
    await Promise.all(pages.slice(1, 18).map((page) => page.close()))
    await open(0)
  }))

  it('tabs that close while others join leave no watch behind', () => scene.fresh(async (profile) => {
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

  it('a tab that crashes is gone, and a shared worker that crashes with it is replaced', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.write({ n: 100, seed: 1 })
    const pages = []
    for (let i = 0; i < 4; i++) pages.push(await scene.open(profile, { mode: 'shared' }))
    for (const page of pages) {
      await follow(page, 'all', { server: cluster.url })
      await equal(cluster, page)
    }
    const living = new Set(pages)
    for (const page of pages) page.on('error', () => living.delete(page)) // it has crashed
    for (const page of pages.slice(0, 3)) { // the first has opened the worker
      if (!living.has(page)) continue
      await crash(page)
      await until('the crash', () => !living.has(page))
      for (const other of living) {
        await until('all is as before', async () => {
          const { changes, state } = await show(other, 'all')
          assert.deepEqual(changes, [], 'nothing has changed')
          return state.phase === 'live' && (await cluster.look()).open === 1
        })
      }
      await cluster.write({ n: 50, seed: living.size })
      await Promise.all([...living].map((page) => equal(cluster, page)))
      await until('one connection', async () => (await cluster.look()).open === (living.size ? 1 : 0))
    }
  }))

  for (const mode of ['main', 'worker', 'shared']) {
    it(`${mode}: a tab that was frozen shows what has happened`, only, () => scene.fresh(async (profile) => {
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

  it('a frozen tab does not keep the token from the others', only, () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ tokens: { first: 'admin', second: 'admin' } })
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

  it('a tab that comes while the only other one is frozen gets a watch of its own', only, () => scene.fresh(async (profile) => {
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

  // wasm/test/shared.test.mjs shows that they share one watch. Here a tab may be too slow to answer another one.
  it('tabs that come while the only other one is frozen leave no watch behind', only, () => scene.fresh(async (profile) => {
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
    it(`${mode}: offline and online again`, only, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url })
      await equal(cluster, page)
      await until('its watch', async () => (await cluster.look()).open === 1)
      const setOffline = await networkOf(profile, page, mode)
      await setOffline(true)
      await cluster.drop()
      await isAway(page)
      await until('a try that fails', async () => /no answer/.test((await show(page, 'all')).state.cause.message))
      await cluster.write({ n: 50, seed: 1 })
      await setOffline(false)
      assert.equal((await equal(cluster, page)).has.lists, 1)
    }))
  }
}

// A page's worker is offline with the page; a shared worker by itself.
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

// Of tabs that share a process, all crash, and the shared worker with them if it lives there.
const crash = async (page) => {
  const session = await page.createCDPSession()
  session.send('Page.crash').catch(() => {}) // there is nobody to answer
}
