// Tests a page with a fixed sequence of writes and failures, in every mode and over every transport.
import assert from 'node:assert/strict'
import { equal, follow, isAway } from './page.mjs'
import { until } from './stage.mjs'

export async function course(cluster, page, transport) {
  await cluster.write({ n: 100, seed: 1 })
  await follow(page, 'all', { server: cluster.url, transport, ask: 'first' })
  const { shown } = await equal(cluster, page)
  assert.equal(shown.outcome, 'synced')

  for (let seed = 2; seed < 12; seed++) await cluster.write({ n: 100, seed })
  await equal(cluster, page)

  await cluster.drop()
  await cluster.write({ n: 50, seed: 20 })
  assert.equal((await equal(cluster, page)).has.lists, 1, 'a broken connection must not cause a relist')

  await page.evaluate(() => globalThis.stage.setToken('all', 'second'))
  await cluster.revoke({ token: 'first' })
  await cluster.end() // closes the watches cleanly; the open watch would continue with the revoked token
  await cluster.write({ n: 50, seed: 21 })
  assert.equal((await equal(cluster, page)).has.lists, 1, 'a revoked token must not cause a relist')

  await cluster.expire({ n: 2 }) // the next watch delivers two events, and then reports that its resourceVersion has expired
  await cluster.end()
  await cluster.write({ n: 50, seed: 22 })
  await until('a relist', async () => (await cluster.look()).lists === 2)
  await equal(cluster, page)

  await cluster.stop()
  await cluster.write({ n: 50, seed: 23 })
  await isAway(page)
  await cluster.restart()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online'))) // makes the package retry immediately
  await equal(cluster, page)

  await page.close()
  await until('no open connection', async () => (await cluster.look()).open === 0)
  await cluster.stop()
}
