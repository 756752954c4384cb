// Tests how a user finds an object in the dashboard: keyboard, search, filters, links, columns and small screens.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { Theatre } from './play.mjs'
import { pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')
const focused = (view) => view.page.evaluate(() => document.activeElement.id || document.activeElement.textContent)

/** Declares the tests for a browser. */
export function usage(name) {
  describe(`${name}, usage`, { concurrency: 1 }, () => {
    const theatre = new Theatre(), play = theatre.play.bind(theatre)
    before(() => theatre.begin(name))
    after(() => theatre.end())

    it('accepts keys immediately after loading, sorts by column and explains the keys', play({}, async (view) => {
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b')
      assert.equal(await focused(view), 'grid')
      const press = (key) => view.page.keyboard.press(key)
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await press(key)
      await view.until('the detail', () => view.text('#detail-name'), 'b')
      await press('Escape')
      await view.until('the closed detail', () => view.page.$eval('#detail', (e) => e.hidden))
      await press('2')
      await view.rows('shop/a', 'shop/b')
      await press('2')
      await view.rows('shop/b', 'shop/a')
      await press('?')
      assert.equal(await view.page.$eval('#help', (e) => e.matches(':modal')), true)
      await view.accessible(axe, 'help')
      await press('Escape')
      await view.until('the closed help', () => view.page.$eval('#help', (e) => !e.open))
      assert.equal(await focused(view), 'grid')
      await press('/')
      assert.equal(await focused(view), 'search')
    }))

    it('sorts by a column title that Tab reaches', play({}, async (view) => {
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b')
      const order = () => view.page.$eval('.head > :nth-child(2)', (title) => title.getAttribute('aria-sort'))
      for (const key of ['Tab', 'Tab', 'Enter']) await view.page.keyboard.press(key)
      assert.equal(await focused(view), 'Name')
      assert.equal(await order(), 'ascending')
      await view.page.keyboard.press('Enter')
      assert.equal(await order(), 'descending')
      await view.rows('shop/b', 'shop/a')
    }))

    it('finds exact labels', play({}, async (view) => {
      for (const app of ['app7', 'app70']) await view.create('pods', pod(app, 'shop', { app }))
      await view.goto('#/v1/pods')
      await view.page.type('#search', 'app=app7')
      await view.rows('shop/app7')
    }))

    it('shows the YAML of an object without scrolling, and keeps the namespaces visible', play({}, async (view) => {
      await view.page.setViewport({ width: 1280, height: 800 })
      await view.create('pods', pod('web-0'))
      await view.create('services', { metadata: { name: 'web', namespace: 'shop' }, spec: { ports: [{ port: 80 }] } })
      await view.goto('#/v1/pods')
      await view.rows('shop/web-0')
      for (const key of ['ArrowDown', 'y']) await view.page.keyboard.press(key)
      await view.until('the YAML', async () => (await view.texts('.yaml .line')).length > 5)
      const bottom = () => view.page.$eval('.yaml .line:nth-child(5)', (line) => line.getBoundingClientRect().bottom)
      assert.ok(await bottom() < 400)
      assert.match(view.page.url(), /sel=shop\/web-0&tab=yaml$/)
      for (const collection of ['pods?sel=shop/web-0', 'services?sel=shop/web']) {
        await view.goto(`#/v1/${collection}`)
        await view.until('the detail', () => view.page.$eval('#detail', (e) => !e.hidden))
        assert.equal(await view.page.$eval('.head > :first-child', (e) => e.checkVisibility() && e.textContent), 'Namespace', collection)
      }
    }))

    it('closes the detail with the Back button and keeps a later search', play({}, async (view) => {
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b')
      const closed = () => view.page.$eval('#detail', (e) => e.hidden)
      for (const key of ['ArrowDown', 'Enter']) await view.page.keyboard.press(key)
      await view.until('the detail', () => view.text('#detail-name'), 'a')
      await view.page.type('#search', 'b')
      await view.rows('shop/b')
      await view.page.goBack()
      await view.until('the closed detail', closed)
      await view.rows('shop/b')
      assert.match(view.page.url(), /#\/v1\/pods\?q=b$/)
      await view.page.focus('#grid')
      for (const key of ['Home', 'Enter']) await view.page.keyboard.press(key)
      await view.until('the detail', async () => !await closed())
      const length = await view.page.evaluate(() => history.length)
      await view.page.keyboard.press('Escape')
      await view.until('the closed detail', closed)
      assert.equal(await view.page.evaluate(() => history.state), null, 'Escape returns to the entry before the detail')
      assert.equal(await view.page.evaluate(() => history.length), length)
    }))

    it('links an object to its owner, its node and its events, and back', play({}, async (view) => {
      const own = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u1' }
      const one = pod('web-0')
      await view.create('pods', { ...one, metadata: { ...one.metadata, ownerReferences: [own] } })
      await view.create('pods', { ...pod('db-0'), spec: { ...one.spec, nodeName: 'node-2' } })
      await view.create('nodes', { metadata: { name: 'node-1' } })
      await view.create('deployments', { metadata: { name: 'web', namespace: 'shop' }, spec: { replicas: 1 } })
      const involvedObject = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-0' }
      await view.create('events', { metadata: { name: 'e1', namespace: 'shop' }, involvedObject, type: 'Warning', reason: 'BackOff', message: 'too many restarts', lastTimestamp: new Date().toISOString() })
      await view.goto('#/v1/pods?sel=shop/web-0')
      const follow = async (text, name) => {
        await view.until(`the link ${text}`, async () => (await view.texts('#detail a')).includes(text))
        await view.page.evaluate((text) => [...document.querySelectorAll('#detail a')].find((a) => a.textContent === text).click(), text)
        if (name) await view.until('the detail', () => view.text('#detail-name'), name)
      }
      await follow('Deployment/web', 'web')
      assert.equal(await view.text('#title'), 'Deployments')
      await view.page.goBack()
      await view.until('the detail', () => view.text('#detail-name'), 'web-0')
      await follow('Node/node-1', 'node-1')
      await follow('pods of this Node')
      await view.rows('shop/web-0')
      await view.page.keyboard.press('ArrowDown')
      await view.page.keyboard.press('e')
      await view.until('the event', () => view.text('.events .part'), 'too many restarts')
      await view.create('events', { metadata: { name: 'e2', namespace: 'shop' }, involvedObject, type: 'Normal', reason: 'Started', lastTimestamp: new Date(Date.now() + 60_000).toISOString() })
      await view.until('the newer event', () => view.text('.events .type'), 'Started')
      await view.accessible(axe, 'events')
      await follow('BackOff', 'e1')
      await follow('Pod/web-0', 'web-0')
    }))
  })
}
