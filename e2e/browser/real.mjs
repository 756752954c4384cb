// Tests the package with a real kube-apiserver in Node, Chromium and Firefox. TestBrowsersAndRealServer sets these
// environment variables: SERVER is the server's URL, ADMIN and NOBODY are tokens, and NODE_EXTRA_CA_CERTS is the path
// of the CA certificate. CONTROL is the URL of an API that kills and starts the server.
import assert from 'node:assert/strict'
import { X509Certificate, createHash } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import tls from 'node:tls'
import { line } from './line.mjs'
import { equal, follow, isAway, show } from './page.mjs'
import { Scene } from './scene.mjs'
import { until } from './stage.mjs'

const { SERVER: server, CONTROL, ADMIN, NOBODY } = process.env
const namespace = 'browsers'
const refused = { wrong: { code: 'unauthorized', status: 401 }, [NOBODY]: { code: 'forbidden', status: 403 } }

const api = async (method, path, body) => {
  const headers = { Authorization: `Bearer ${ADMIN}`, 'Content-Type': 'application/json' }
  const answer = await fetch(server + path, { method, headers, body: body && JSON.stringify(body) })
  return { ...await answer.json(), status: answer.status }
}
const control = async (what) => {
  const answer = await fetch(`${CONTROL}/${what}`, { method: 'POST' })
  assert.ok(answer.ok, await answer.text())
}
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

// Stands in for a cluster of stage.mjs, whose objects page.mjs compares with those of the page.
const cluster = {
  async look() {
    const objects = {}
    for (const { metadata: { managedFields, ...metadata }, data } of (await api('GET', configMaps)).items) {
      objects[`${namespace}/${metadata.name}`] = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    }
    return { objects }
  },
  async write(n) {
    for (let i = 0; i < n; i++) {
      const name = `cm-${Math.floor(Math.random() * 20)}`, object = { metadata: { name }, data: { text: `Größe ${i}` } }
      if (i % 4 === 3) await api('DELETE', `${configMaps}/${name}`)
      else if ((await api('PUT', `${configMaps}/${name}`, object)).status === 404) await api('POST', configMaps, object)
    }
  },
}

// Returns the hash of the server's public key, with which launch() makes a browser accept the server's certificate.
async function publicKey() {
  const { hostname, port } = new URL(server)
  const connection = tls.connect({ host: hostname, port })
  await once(connection, 'secureConnect')
  const { publicKey } = new X509Certificate(connection.getPeerCertificate().raw)
  connection.destroy()
  return createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' })).digest('base64')
}

before(async () => {
  const { status } = await api('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  assert.ok(status === 201 || status === 409)
})

// Returns a stand-in for a browser page. It runs the functions of the page in Node.
async function inNode() {
  await import('./page/page.js')
  await globalThis.stage.load({}, new URL('../../wasm', import.meta.url).href)
  return { evaluate: async (f, ...args) => f(...args) }
}

async function course(page, transport) {
  await follow(page, transport, { server, namespace, transport, token: ADMIN })
  await until('the complete list', async () => (await show(page, transport)).outcome === 'synced')
  await cluster.write(40) // In Firefox, fetch() resolves with the first byte of the body. Without a change, the server sends it after a minute, in a bookmark.
  await equal(cluster, page, transport)
  await page.evaluate((name) => globalThis.stage.close(name), transport)
  for (const [token, cause] of Object.entries(refused)) {
    await follow(page, token + transport, { server, namespace, transport, token })
    const { outcome } = await until('the error response', async () => {
      const shown = await show(page, token + transport)
      return shown.outcome && shown
    })
    assert.deepEqual({ code: outcome.code, status: outcome.status }, cause, outcome.message)
  }
}

// Tests an outage in which resourceVersions expire, and a restart after the server was killed. A proxy resets the
// connections of all pages.
async function outages(pages) {
  const to = await line(server)
  const all = Object.entries(pages)
  const reports = async (what, expected) => {
    for (const [transport, page] of all) {
      const changes = []
      await until(what, async () => {
        const shown = await show(page, transport)
        changes.push(...shown.changes.map(({ type, key, finalStateUnknown }) => `${type} ${key.split('/')[1]}${finalStateUnknown ? ', final state unknown' : ''}`))
        return changes.length >= expected.length && shown.state.phase === 'live'
      }, 180) // after failed attempts, Firefox delays a WebSocket by up to a minute, and a restarted kube-apiserver may need half a minute
      assert.deepEqual(changes.sort(), expected, `${what}, ${transport}`)
      await equal(cluster, page, transport)
    }
  }
  try {
    await api('POST', configMaps, { metadata: { name: 'goes' }, data: { text: 'x' } })
    for (const [transport, page] of all) {
      await follow(page, transport, { server: to.url, namespace, transport, token: ADMIN })
      await equal(cluster, page, transport)
      await show(page, transport)
    }
    to.cut()
    for (const [transport, page] of all) await isAway(page, transport)
    await api('DELETE', `${configMaps}/goes`)
    await api('POST', configMaps, { metadata: { name: 'comes' }, data: { text: 'x' } })
    await control('expire')
    to.mend()
    await reports('changes from the relist', ['added comes', 'deleted goes, final state unknown'])

    await control('kill')
    for (const [transport, page] of all) await isAway(page, transport)
    await control('start')
    await reports('no changes', [])
    // An open watch proves nothing, because the server may still reject its resourceVersion. Only an event proves that
    // the watch works.
    await api('POST', configMaps, { metadata: { name: 'tells' }, data: { text: 'x' } })
    await reports('the write after the restart', ['added tells'])
    for (const name of ['comes', 'tells']) await api('DELETE', `${configMaps}/${name}`)
    await reports('the deletions after the restart', ['deleted comes', 'deleted tells'])
  } finally {
    for (const [transport, page] of all) await page.evaluate((name) => globalThis.stage.close(name), transport)
    to.end()
  }
}

describe('Node', () => {
  let page
  before(async () => { page = await inNode() })
  for (const transport of ['http', 'ws']) it(`${transport}: shows the server's state and error responses`, () => course(page, transport))
  it('recovers from outages', () => outages({ auto: page, ws: page }))
})

for (const browser of ['chrome', 'firefox'].filter((name) => process.env[name.toUpperCase()])) {
  describe(browser, () => {
    const scene = new Scene(browser)
    before(async () => scene.begin({ trusted: await publicKey() }))
    after(() => scene.end())
    for (const mode of ['main', 'shared']) {
      // WebSockets come first, because Chromium cancels the first WebSocket to a server that requests client
      // certificates.
      for (const transport of ['ws', 'http']) {
        it(`${mode}, ${transport}: shows the server's state and error responses`, () => scene.fresh(async (profile) => course(await scene.open(profile, { mode }), transport)))
      }
    }
    it('recovers from outages', () => scene.fresh(async (profile) => {
      await outages({ auto: await scene.open(profile, { mode: 'shared' }), ws: await scene.open(profile, { mode: 'main' }) })
    }))
  })
}
