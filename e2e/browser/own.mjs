// Tests the dashboard with a real kube-apiserver behind the proxy of examples/demo. TestDashboardOfOwnCluster sets
// DASHBOARD to the URL that the demo prints, SERVER to the URL of the kube-apiserver and ADMIN to a token.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'
import { View } from './view.mjs'

const { DASHBOARD, SERVER, ADMIN } = process.env
const api = DASHBOARD.replace(/\/ui\/.*/, '')

const write = async (method, path, object) => {
  const headers = { Authorization: `Bearer ${ADMIN}`, 'Content-Type': 'application/json' }
  const answer = await fetch(SERVER + path, { method, headers, body: object && JSON.stringify(object) })
  assert.ok(answer.ok || answer.status === 409, await answer.text())
}
const configMaps = '/api/v1/namespaces/own/configmaps'

before(async () => {
  mkdirSync(fileURLToPath(new URL('../../bin/screenshots/', import.meta.url)), { recursive: true })
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'own' } })
  await write('POST', '/api/v1/namespaces/own/pods', { metadata: { name: 'web' }, spec: { containers: [{ name: 'main', image: 'images.example/web:1' }] } })
})

for (const name of ['chrome', 'firefox']) {
  describe(name, () => {
    let browser, profile, view
    before(async () => {
      browser = await launch(name)
      profile = await browser.createBrowserContext()
      view = await View.open(name, profile, DASHBOARD, { url: SERVER })
    })
    after(() => browser?.close())

    it('shows the cluster live without CORS and without a token', async () => {
      await view.goto(`#/v1/configmaps?ns=own&q=${name}`)
      await view.until('the connection', async () => /^Live/.test(await view.text('#connection-text')))
      assert.equal(await view.text('#server-name'), new URL(DASHBOARD).searchParams.get('name'))
      await write('POST', configMaps, { metadata: { name: `${name}-a` } })
      await view.rows(`${name}-a`)
      await write('DELETE', `${configMaps}/${name}-a`)
      await view.rows()
      await view.goto('#/v1/pods?sel=own/web')
      await view.until('the whole object', async () => (await view.texts('.yaml .line')).some((line) => /image: images.example/.test(line)))
      assert.deepEqual(view.complaints, [])
      await view.picture('own')
    })

    it('saves nothing of the cluster in the browser', async () => {
      const saved = await view.page.evaluate(async () => JSON.stringify([await indexedDB.databases(), { ...localStorage }]))
      assert.doesNotMatch(saved, /own|web|objects/)
    })

    // The admin's credentials allow all of these requests, so the kube-apiserver would not refuse them.
    it('cannot run commands, reach Pods or write', async () => {
      const outcomes = await view.page.evaluate((api) => {
        const socket = (path) => new Promise((resolve) => {
          const opened = new WebSocket(api.replace('http', 'ws') + path)
          opened.onopen = () => resolve('open')
          opened.onerror = () => resolve('refused')
        })
        const send = (path, method = 'GET') => fetch(api + path, { method }).then(({ status }) => status)
        const pod = '/api/v1/namespaces/own/pods/web'
        const of = ['exec?command=id&stdout=1', 'attach?stdout=1', 'portforward?ports=80', 'proxy/'].map((rest) => `${pod}/${rest}`)
        return Promise.all([...of.map((path) => send(path)), ...of.map(socket), socket(`${pod.replace('/web', '')}?watch=1`), send(pod, 'DELETE'), send(`${pod}/log`)])
      }, api)
      // A watch over WebSocket is allowed, so the refused WebSockets do not fail for another reason.
      assert.deepEqual(outcomes, [403, 403, 403, 403, 'refused', 'refused', 'refused', 'refused', 'open', 405, 403])
    })

    it('is not available to pages of another origin', async () => {
      const other = await profile.newPage()
      // localhost is another origin of the same server, which rejects this host, so the navigation may fail.
      await other.goto(`${new URL(DASHBOARD).origin.replace('127.0.0.1', 'localhost')}/`).catch(() => undefined)
      const outcome = await other.evaluate((api) => fetch(`${api}/api/v1/pods`).then(({ status }) => status, () => 'refused'), api)
      assert.equal(outcome, 'refused')
    })
  })
}
