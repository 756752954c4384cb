// The dashboard of examples/browser, as a user drives it.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { Theatre } from './play.mjs'
import { pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')

export function dashboard(name) {
  describe(name, { concurrency: 1 }, () => {
    const theatre = new Theatre(), play = theatre.play.bind(theatre)
    before(() => theatre.begin(name))
    after(() => theatre.end())

    it('lists the collections that the server tells, and opens one with its columns', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('')
      await view.rows('shop/web-0')
      assert.deepEqual(await view.texts('.head button'), ['Namespace', 'Name', 'Ready', 'Status', 'Restarts', 'Node', 'IP', 'Age'])
      assert.deepEqual((await view.texts('.row:not([hidden]) > div')).slice(0, 4), ['shop', 'web-0', '1/1', 'Running'])
      await view.page.click('a[title="lw.example.com/v1/widgets"]')
      await view.until('the widgets', () => view.text('#empty strong'), 'No widgets')
      assert.equal(await view.text('.sidebar [aria-current]'), 'widgets')
      assert.match(view.page.url(), /#\/lw\.example\.com\/v1\/widgets$/)
    }))

    it('marks what just changed, and tells it field by field', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.create('pods', pod('web-1'))
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.rows('shop/web-0', 'shop/web-1')
      assert.deepEqual(await view.texts('[data-mark]'), [], 'a first list is no news')
      await view.patch('pods', 'shop', 'web-0', { status: { phase: 'Failed', reason: 'Evicted', containerStatuses: [] } })
      await view.until('the mark', () => view.text('.row[data-mark="modified"] > div:nth-child(2)'), 'web-0')
      await view.until('the cell', () => view.text('.row[data-mark="modified"] > div:nth-child(4)'), 'Evicted')
      const fields = () => view.texts('.changes .field')
      await view.until('the difference', async () => (await fields()).includes('status.phaseRunning→Failed'))
      assert.deepEqual(await fields(), ['status.containerStatuses[main]name: main\nready: true\nrestartCount: 0\nstate:\n  running: {}removed', 'status.phaseRunning→Failed', 'status.reason+Evicted'])
      assert.ok((await view.texts('.yaml .changed')).includes('  phase: Failed\n'))
      await view.picture('detail')
      await view.remove('pods', 'shop', 'web-0')
      await view.until('that it is gone', async () => /^deleted/.test(await view.text('.detail .sub')))
      await view.rows('shop/web-1')
    }))

    it('tells in full what changed before it was selected, though the table holds a part, and says so where nobody knows any more', play({}, async (view, cluster) => {
      for (const name of ['web-0', 'web-1']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/web-0', 'shop/web-1')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      for (const name of ['web-0', 'web-1']) {
        await view.patch('pods', 'shop', name, { metadata: { annotations: { note: 'hello' } }, status: { hostIP: '10.9.9.9', phase: 'Failed' } })
        await view.until('the change', () => view.cell(`shop/${name}`, 3), 'Failed')
      }
      const fields = () => view.texts('.changes .field')
      await view.page.goto(`${view.page.url()}?sel=shop/web-0`)
      const all = ['metadata.annotations+note: hello', 'status.hostIP+10.9.9.9', 'status.phaseRunning→Failed']
      await view.until('all of the difference', async () => (await fields()).sort().join(), all.join())
      await view.until('the whole object', async () => (await view.texts('.yaml .changed')).includes('    note: hello\n'))
      await cluster.compact()
      await view.page.goto(view.page.url().replace('web-0', 'web-1'))
      await view.until('the part of it', async () => (await fields()).join() === 'status.phaseRunning→Failed')
      await view.until('why', async () => /^Only fields that the table holds/.test(await view.text('.changes .part')))
      await view.until('the whole object', async () => (await view.texts('.yaml .line')).includes('    note: hello\n'))
    }))

    it('finds collections that come later, and lets go of those that are gone', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.rows('shop/web-0')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const gadgets = 'a[title="example.com/v1/gadgets"]'
      assert.equal(await view.page.$(gadgets), null)
      await cluster.define({ name: 'gadgets' })
      await view.page.click('#refresh')
      await view.until('the new collection', () => view.page.$(gadgets))
      await view.rows('shop/web-0')
      await view.page.click(gadgets)
      await view.until('that it is empty', () => view.text('#empty strong'), 'No gadgets')
      await cluster.undefine({ name: 'gadgets' })
      await view.until('that it is gone', async () => !await view.page.$(gadgets))
      await view.until('why', async () => /^The server has no such collection/.test(await view.text('#connection-text')))
      await cluster.define({ name: 'gadgets' })
      await view.page.click('#refresh')
      await view.until('that it is there again', () => view.text('#empty strong'), 'No gadgets')
      await cluster.define({ name: 'gizmos' })
      await cluster.stop()
      await view.until('that the server is away', async () => /next try/.test(await view.text('#connection-text')))
      await cluster.restart()
      await view.until('what came while it was away', () => view.page.$('a[title="example.com/v1/gizmos"]'))
    }))

    it('tries at once when it is told to', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const shown = () => view.page.$eval('#retry', (button) => !button.hidden)
      assert.equal(await shown(), false)
      await cluster.stop()
      const left = async () => Number(/next try in (\d+) s/.exec(await view.text('#connection-text'))?.[1] ?? 0)
      let tries = 0, last = 0
      await view.until('many tries', async () => { // each doubles the delay, so that by themselves they would take minutes
        const now = await left()
        if (now > last) tries++
        last = now
        if (tries >= 10 && now > 3) return true // no other try comes soon
        await view.page.evaluate(() => document.getElementById('retry').click())
        return false
      })
      await view.page.focus('#retry')
      await cluster.restart()
      await view.page.keyboard.press('Enter')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await shown(), false)
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'grid', 'the keyboard is not lost with the button')
    }))

    it('searches, sorts and narrows to a namespace, and the URL says so', play({}, async (view) => {
      for (const name of ['web-2', 'web-10', 'db-1']) await view.create('pods', pod(name, 'shop', { app: name.split('-')[0] }))
      await view.create('pods', pod('web-0', 'batch'))
      await view.create('namespaces', { metadata: { name: 'batch' } })
      await view.goto('#/v1/pods')
      await view.rows('batch/web-0', 'shop/db-1', 'shop/web-10', 'shop/web-2')
      await view.clickHead('Name')
      await view.rows('shop/db-1', 'batch/web-0', 'shop/web-2', 'shop/web-10')
      await view.clickHead('Name')
      await view.rows('shop/web-10', 'shop/web-2', 'batch/web-0', 'shop/db-1')
      assert.equal(await view.page.$eval('[aria-sort="descending"]', (e) => e.textContent), 'Name')
      await view.page.type('#search', 'app=web')
      await view.rows('shop/web-10', 'shop/web-2')
      await view.until('the count', () => view.text('#count'), '2 of 4')
      await view.until('the namespaces', async () => (await view.texts('#scope option')).includes('batch'))
      await view.page.select('#scope select', 'batch')
      await view.until('the URL', () => view.page.evaluate(() => location.hash), '#/v1/pods?ns=batch&q=app%3Dweb&sort=-name')
      await view.rows()
      await view.page.reload()
      await view.until('the text', () => view.text('#empty strong'), 'Nothing matches “app=web”')
      await view.page.focus('#grid')
      await view.page.keyboard.press('Escape')
      await view.rows('web-0')
    }))

    it('is driven by the keyboard alone', play({}, async (view) => {
      for (const name of ['a', 'b', 'c']) await view.create('pods', pod(name))
      await view.goto('#/v1/pods')
      await view.rows('shop/a', 'shop/b', 'shop/c')
      const press = async (...keys) => { for (const key of keys) await view.page.keyboard.press(key) }
      const active = () => view.page.$eval('#grid', (grid) => document.getElementById(grid.getAttribute('aria-activedescendant'))?.children[1].textContent)
      await press('/')
      await view.page.keyboard.type('shop')
      await press('ArrowDown')
      await view.until('the first row', active, 'a')
      await press('ArrowDown', 'j', 'ArrowUp')
      await view.until('the second row', active, 'b')
      await press('Enter')
      await view.until('the detail', () => view.text('#detail-name'), 'b')
      await press('End')
      await view.until('the detail follows', () => view.text('#detail-name'), 'c')
      await press('Enter')
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'detail-name')
      await press('Escape')
      await view.until('the detail is closed', () => view.page.$eval('#detail', (e) => e.hidden))
      await press('Escape')
      await view.until('the search is empty', () => view.page.$eval('#search', (e) => e.value === ''))
      await press('g')
      await view.page.keyboard.type('deplo')
      await press('Enter')
      await view.until('the other collection', () => view.text('#title'), 'Deployments')
    }))

    it('says why nothing comes, when the next try is, and how old what it shows is', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await cluster.stop()
      await view.until('cause and countdown', async () => /^No connection · next try in \d+ s$/.test(await view.text('#connection-text')))
      assert.match(await view.text('#stale'), /^Stale: as it was at \d\d:\d\d:\d\d, \d+s ago\. What happened since then is not known\. Cause: ./)
      await view.until('what is told aloud', () => view.text('#announcer'), 'No connection')
      await view.picture('offline')
      await cluster.restart()
      await view.create('pods', pod('web-1'))
      await view.rows('shop/web-0', 'shop/web-1')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#stale', (e) => e.hidden), true)
    }))

    it('shows after a reload what was there, marked stale, while the server is away', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const stale = async () => /^Stale: as it was at (\S+),/.exec(await view.text('#stale'))?.[1]
      const seconds = () => Math.floor(Date.now() / 1000)
      await cluster.stop()
      const stopped = seconds()
      await view.until('that it is stale', stale)
      const then = await stale()
      await view.until('a later time', () => seconds() > stopped + 1)
      await view.page.reload()
      await view.rows('shop/web-0')
      await view.until('the time before it was loaded', stale, then)
      await cluster.restart()
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#stale', (e) => e.hidden), true)
    }))

    it('sorts ages as they are shown, the youngest first, as events are unless somebody asks', play({}, async (view) => {
      const hoursAgo = (n) => new Date(Date.now() - n * 3_600_000).toISOString()
      for (const [name, hours] of [['a', 5], ['b', 2], ['c', 9]]) await view.create('events', { metadata: { name, namespace: 'shop' }, lastTimestamp: hoursAgo(hours) })
      await view.goto('#/v1/events')
      const shown = async (sort, ...keys) => {
        await view.rows(...keys)
        assert.equal(await view.page.$eval(`[aria-sort="${sort}"]`, (e) => e.textContent), 'Last')
      }
      await shown('ascending', 'shop/b', 'shop/a', 'shop/c')
      await view.clickHead('Last')
      await shown('descending', 'shop/c', 'shop/a', 'shop/b')
      await view.clickHead('Last')
      await shown('ascending', 'shop/b', 'shop/a', 'shop/c')
    }))

    it('shows no value of a Secret, and does not even have it', play({}, async (view) => {
      const data = { password: 'c2VjcmV0LXZhbHVl' }
      await view.create('secrets', { metadata: { name: 'db', namespace: 'shop', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data }) } }, data })
      await view.goto('#/v1/secrets?sel=shop/db')
      await view.until('the detail', () => view.text('#detail-name'), 'db')
      await view.patch('secrets', 'shop', 'db', { data: { password: 'YW5vdGhlci1vbmU=' } })
      await view.until('the change', async () => (await view.texts('.changes .field')).length === 1)
      const html = await view.page.content()
      for (const secret of [data.password, 'YW5vdGhlci1vbmU=']) assert.ok(!html.includes(secret))
    }))

    it('asks for a token, and keeps it nowhere', play({ tokens: { 'token-of-ann': 'admin' } }, async (view) => {
      await view.create('pods', pod('web-0'), 'token-of-ann')
      await view.goto('#/v1/pods')
      await view.until('the question', () => view.page.$eval('#connect', (e) => e.open))
      await view.page.type('#connect-token', 'token-of-ann')
      await view.page.keyboard.press('Enter')
      await view.rows('shop/web-0')
      const kept = await view.page.evaluate(async () => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, await indexedDB.databases(), document.documentElement.outerHTML]))
      assert.ok(!kept.includes('token-of-ann'))
      assert.equal(await view.page.$eval('#connect-token', (e) => e.value), '')
    }))

    it('fits into a narrow window, also when there is much to say', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.page.setViewport({ width: 390, height: 780 })
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const wide = () => view.page.evaluate(() => document.documentElement.scrollWidth)
      assert.equal(await wide(), 390, 'nothing is beside the window, not even unseen')
      const outside = () => view.page.$$eval('.bar > *, .toolbar > *, .goto, #connection-text, .head > :nth-child(-n+4)', (all) => all
        .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth || e.id === 'connection-text' && e.scrollWidth > e.clientWidth)).map((e) => e.outerHTML))
      assert.deepEqual(await outside(), [])
      await cluster.stop()
      await view.until('cause and countdown', async () => /^No connection · next try/.test(await view.text('#connection-text')))
      assert.deepEqual(await outside(), [])
      await view.picture('narrow')
      await view.look('dark')
      await view.accessible(axe, 'narrow and interrupted')
    }))

    it('has names, roles and contrast, light and dark', play({}, async (view) => {
      await view.look('light')
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.create('pods', { ...pod('c'), status: { phase: 'Pending' } })
      await view.goto('#/v1/pods?sel=shop/a')
      await view.until('the detail', () => view.text('#detail-name'), 'a')
      await view.patch('pods', 'shop', 'a', { status: { phase: 'Pending' } })
      await view.until('the change', async () => (await view.texts('.changes .field')).length === 1)
      for (const scheme of ['light', 'dark']) {
        await view.look(scheme)
        await view.accessible(axe, scheme)
        await view.picture(scheme)
      }
      await view.page.click('#help-open')
      await view.accessible(axe, 'help')
      await view.page.keyboard.press('Escape')
      await view.page.click('#server')
      await view.accessible(axe, 'server')
    }))
  })
}
