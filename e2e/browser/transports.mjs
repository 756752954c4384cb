// How "auto" finds the transport that does.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { equal, follow, show } from './page.mjs'
import { until } from './stage.mjs'

export function transports(scene) {
  // Firefox shows nothing of a response before its first byte, which never comes here.
  it('auto: a collection in which nothing happens is live', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ quiet: true })
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'all', { server: cluster.url, transport: 'auto' })
    await equal(cluster, page)
  }))

  it('auto: what one collection has learned of a server holds for one with another token', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ tokens: { first: 'admin', second: 'admin' } })
    await cluster.buffer()
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'first', { server: cluster.url, transport: 'auto', ask: 'first' })
    await equal(cluster, page, 'first')
    await until('a bookmark', async () => page.evaluate(() => globalThis.stage.show('first').calls > 3))
    const { watches } = await cluster.look()
    await follow(page, 'second', { server: cluster.url, transport: 'auto', ask: 'second' })
    await equal(cluster, page, 'second')
    await cluster.put({ object: { metadata: { name: 'new' } } }) // which only a watch over WebSocket brings
    assert.equal((await equal(cluster, page, 'second')).has.watches, watches + 1)
  }))

  it('auto: headers, which a WebSocket cannot send, are sent with every watch', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.buffer()
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'plain', { server: cluster.url, transport: 'auto' })
    await equal(cluster, page, 'plain')
    await cluster.put({ object: { metadata: { name: 'early' } } })
    await equal(cluster, page, 'plain') // over the WebSocket, so no other watch of it follows
    const { watches } = await cluster.look()
    await follow(page, 'all', { server: cluster.url, transport: 'auto', headers: { 'X-Requested-With': 'test' } })
    await until('its watch', async () => (await cluster.look()).watches === watches + 1)
    await follow(page, 'ws', { server: cluster.url, transport: 'ws', headers: { 'X-Requested-With': 'test' } })
    await equal(cluster, page, 'ws')
    await cluster.put({ object: { metadata: { name: 'late' } } })
    await equal(cluster, page, 'ws')
    assert.deepEqual(Object.keys((await show(page, 'all')).objects).filter((key) => key.endsWith('late')), [], 'its watch is held back')
  }))
}
