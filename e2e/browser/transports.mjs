// Tests that the transport "auto" selects a transport that works.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { equal, follow, show } from './page.mjs'
import { until } from './stage.mjs'

export function transports(scene) {
  // In Firefox, fetch() does not resolve before the first byte of the body, but a server without changes sends none.
  it('auto: a quiet collection becomes live', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ quiet: true })
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'all', { server: cluster.url, transport: 'auto' })
    await equal(cluster, page)
  }))

  it('auto: collections with different tokens share the selected transport of a server', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ tokens: { first: true, second: true } })
    await cluster.buffer() // like a proxy that delivers a watch over HTTP only after its end, so only a WebSocket works
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'first', { server: cluster.url, transport: 'auto', ask: 'first' })
    await equal(cluster, page, 'first')
    await until('a bookmark', async () => page.evaluate(() => globalThis.stage.show('first').calls > 3))
    const { watches } = await cluster.look()
    await follow(page, 'second', { server: cluster.url, transport: 'auto', ask: 'second' })
    await until('the watch', async () => (await cluster.look()).watches > watches)
    await cluster.put({ object: { metadata: { name: 'new' } } }) // the proxy buffers watches over HTTP, so only a WebSocket delivers this change
    assert.equal((await equal(cluster, page, 'second')).has.watches, watches + 1)
  }))

  it('auto: a collection with headers uses HTTP because a WebSocket cannot send them', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.buffer()
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'plain', { server: cluster.url, transport: 'auto' })
    await equal(cluster, page, 'plain')
    await cluster.put({ object: { metadata: { name: 'early' } } })
    await equal(cluster, page, 'plain') // after this change, the collection opens no other watch
    const { watches } = await cluster.look()
    await follow(page, 'all', { server: cluster.url, transport: 'auto', headers: { 'X-Requested-With': 'test' } })
    await until('the watch', async () => (await cluster.look()).watches === watches + 1)
    await follow(page, 'ws', { server: cluster.url, transport: 'ws', headers: { 'X-Requested-With': 'test' } })
    await equal(cluster, page, 'ws')
    await cluster.put({ object: { metadata: { name: 'late' } } })
    await equal(cluster, page, 'ws')
    assert.deepEqual(Object.keys((await show(page, 'all')).objects).filter((key) => key.endsWith('late')), [], 'the collection with headers must use HTTP, which the proxy buffers')
  }))
}
