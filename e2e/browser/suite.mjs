// The package in a real browser, in every mode and over every transport.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { launch } from './launch.mjs'
import { Stage, until } from './stage.mjs'

export function suite(name) {
  describe(name, { concurrency: true }, () => {
    let browser, stage
    before(async () => {
      [browser, stage] = await Promise.all([launch(name), Stage.start()])
    })
    after(async () => {
      await browser?.close()
      stage?.stop()
    })

    // A page of a profile of its own, so that nothing is shared with other tests.
    const fresh = async (f) => {
      const profile = await browser.createBrowserContext()
      try {
        return await f(profile)
      } finally {
        await profile.close()
      }
    }
    const open = async (profile, options, folder) => {
      const page = await profile.newPage()
      await page.goto(`${stage.url}/index.html`)
      await page.waitForFunction('globalThis.stage', { polling: 20 })
      await page.evaluate((options, folder) => globalThis.stage.load(options, folder), options, folder)
      return page
    }

    for (const mode of ['main', 'worker', 'shared']) {
      for (const transport of ['http', 'ws', 'auto']) {
        it(`${mode}, ${transport}: what the page shows comes to what the server has, whatever happens`, () => fresh(async (profile) => {
          await course(await stage.cluster({ tokens: { first: 'admin', second: 'admin' } }), await open(profile, { mode }), transport)
        }))
      }
    }
  })
}

const follow = (page, name, options) => page.evaluate((name, options) => globalThis.stage.open(name, options), name, options)
const show = (page, name) => page.evaluate((name) => globalThis.stage.show(name), name)

/** Waits until a collection is live and shows what the server has; returns both. */
async function equal(cluster, page, name = 'all') {
  let shown, has
  try {
    await until('the page shows what the server has', async () => {
      [shown, has] = await Promise.all([show(page, name), cluster.look()])
      return shown.state.phase === 'live' && !shown.state.stale && isDeepStrictEqual(shown.objects, has.objects)
    })
  } catch (error) {
    assert.deepEqual(shown.objects, has.objects)
    throw new Error(`${error.message}: ${JSON.stringify(shown.state)}`)
  }
  return { shown, has }
}

async function course(cluster, page, transport) {
  await cluster.write({ n: 100, seed: 1 })
  await follow(page, 'all', { server: cluster.url, transport, ask: 'first' })
  const { shown } = await equal(cluster, page)
  assert.equal(shown.outcome, 'synced')

  for (let seed = 2; seed < 12; seed++) await cluster.write({ n: 100, seed })
  await equal(cluster, page)

  await cluster.drop()
  await cluster.write({ n: 50, seed: 20 })
  assert.equal((await equal(cluster, page)).has.lists, 1, 'a connection that broke costs no list')

  await page.evaluate(() => globalThis.stage.setToken('all', 'second'))
  await cluster.revoke({ token: 'first' })
  await cluster.end()
  await cluster.write({ n: 50, seed: 21 })
  assert.equal((await equal(cluster, page)).has.lists, 1, 'a token that is not good any more costs no list')

  await cluster.expire({ n: 2 })
  await cluster.end()
  await cluster.write({ n: 50, seed: 22 })
  await until('a new list', async () => (await cluster.look()).lists === 2)
  await equal(cluster, page)

  await cluster.stop()
  await cluster.write({ n: 50, seed: 23 })
  await isAway(page)
  await cluster.restart()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')))
  await equal(cluster, page)

  await page.close()
  await until('no connection is left', async () => (await cluster.look()).open === 0)
  await cluster.close()
}

/** Waits until a collection shows that its server is away. */
async function isAway(page, name = 'all') {
  const { state } = await until('the page tells that the server is away', async () => {
    const shown = await show(page, name)
    return shown.state.phase === 'interrupted' && shown
  })
  assert.equal(state.stale, true)
  assert.equal(state.cause.name, 'ListWatchError')
  assert.equal(state.cause.retryable, true)
  assert.ok(state.retryAt > 0)
}
