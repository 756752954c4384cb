// Tests several tabs of the dashboard over HTTP/1.1. The tests mostly wait, so they run in parallel with dashboard.mjs
// in a separate browser.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bounded } from './connections.mjs'
import { front } from './front.mjs'
import { Theatre } from './play.mjs'
import { pod } from './view.mjs'

// Six collections, one for each tab, because a browser opens at most six HTTP/1.1 connections to a host. So six watches over
// HTTP would leave no connection for other requests. The second element contains the fields that objects need in addition
// to metadata.
const TABS = [['v1/pods', pod('')], ['v1/services'], ['v1/configmaps'], ['v1/secrets'], ['apps/v1/deployments'], ['lw.example.com/v1/widgets']]

export function windows(name) {
  describe(`${name}, several tabs`, { concurrency: 1 }, () => {
    const theatre = new Theatre(), play = theatre.play.bind(theatre)
    before(() => theatre.begin(name))
    after(() => theatre.end())

    for (const sockets of [true, false]) {
      it(`HTTP/1.1, ${sockets ? 'with' : 'without'} WebSocket: six tabs watch their collections and show whether changes arrive late`, play({}, async (view, cluster, open) => {
        const at = await front(theatre.stage.url, cluster.url, { sockets })
        const create = async (name) => {
          for (const [place, of = {}] of TABS) await view.create(place.split('/').at(-1), { ...of, metadata: { name, namespace: 'shop' } })
        }
        try {
          await create('a')
          const tabs = []
          for (const [place] of TABS) {
            const tab = await open(`${at.url}/ui/`)
            await tab.goto(`#/${place}`)
            await tab.rows('shop/a')
            tabs.push(tab)
          }
          await create('b')
          // Without WebSockets, the watches take turns on two connections, so changes arrive late. HTTP/2 would help.
          for (const tab of tabs) {
            await tab.page.bringToFront() // browsers do not render hidden tabs
            await tab.rows('shop/a', 'shop/b')
            const live = sockets ? /^Live(, last update.*)?$/ : /^Live, a few seconds behind(, last update.*)?$/
            await tab.until('the connection state', async () => live.test(await tab.text('#connection-text')))
          }
          if (!sockets) assert.match(await tabs.at(-1).page.$eval('#connection', (corner) => corner.title), /HTTP\/2/)
          await tabs.at(-1).picture(sockets ? 'tabs' : 'turns')
          bounded(at)
        } finally {
          at.close()
        }
      }))
    }
  })
}
