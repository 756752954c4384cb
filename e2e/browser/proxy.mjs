// Tests ten collections in a page that connects through kubectl proxy. TestBrowsersBehindKubectlProxy sets PROXY to the
// URL of kubectl proxy. front.mjs serves the page from the same origin.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bounded, change, open, ten } from './connections.mjs'
import { front } from './front.mjs'
import { Scene } from './scene.mjs'

const { PROXY } = process.env
const namespace = 'behind-a-proxy', configMaps = `/api/v1/namespaces/${namespace}/configmaps`

const post = async (path, object) => {
  const answer = await fetch(PROXY + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(object) })
  assert.ok(answer.ok || answer.status === 409, await answer.text())
}

before(() => post('/api/v1/namespaces', { metadata: { name: namespace } }))

for (const browser of ['chrome', 'firefox']) {
  describe(browser, () => {
    const scene = new Scene(browser)
    before(() => scene.begin())
    after(() => scene.end())
    for (const sockets of [true, false]) {
      it(sockets ? 'ten collections use two connections and WebSockets' : 'without WebSockets, ten collections take turns', () => scene.fresh(async (profile) => {
        const at = await front(scene.stage.url, PROXY, { sockets })
        try {
          const page = await open(profile, at, { mode: 'shared' })
          const put = (name, labels) => post(configMaps, { metadata: { name, labels } })
          const path = `${configMaps}?limit=1`, prefix = `${browser}-${sockets}`
          await ten(page, at, path, put, { namespace, prefix })
          await change(page, path, put, `${prefix}-b`)
          bounded(at)
          assert.equal(at.seen.sockets > 0, sockets)
        } finally {
          at.close()
        }
      }))
    }
  })
}
