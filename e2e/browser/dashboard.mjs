// The dashboard of examples/browser, as a user drives it.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { bounded } from './connections.mjs'
import { front } from './front.mjs'
import { Theatre } from './play.mjs'
import { pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')

// Six collections, each by its place in the URL, and the fields that its objects need.
const TABS = [['v1/pods', pod('')], ['v1/services'], ['v1/configmaps'], ['v1/secrets'], ['apps/v1/deployments'], ['lw.example.com/v1/widgets']]

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
      await view.until('why', async () => /^Only the fields of the table.*no longer keeps this version/.test(await view.text('.changes .part')))
      await view.until('the whole object', async () => (await view.texts('.yaml .line')).includes('    note: hello\n'))
    }))

    it('shows the whole object of a row that is unchanged since the page loaded', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.until('a field that the table does not hold', async () => (await view.texts('.yaml .line')).some((line) => /image: images.example/.test(line)))
      assert.equal(await view.text('.yaml .comment'), undefined)
      await view.remove('pods', 'shop', 'web-0')
      await view.rows()
      assert.equal(await view.text('.yaml .comment'), undefined, 'the object stays after the deletion')
    }))

    it('says why it does not show the whole object', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.rows('shop/web-0')
      await view.answer('/pods/web-0', 503, { message: 'overloaded' })
      await view.page.evaluate(() => { location.hash += '?sel=shop/web-0' })
      await view.until('the reason', () => view.text('.yaml .comment'), '# Only the fields of the table. The server did not return the rest: the server answered 503: overloaded.\n')
    }))

    it('says when it last heard from a quiet server', play({ quiet: true }, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.page.evaluateOnNewDocument(() => {
        const { now } = Date
        Date.now = () => now() + (globalThis.ahead ?? 0)
      })
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const tone = () => view.page.$eval('#connection', (element) => element.dataset.tone)
      assert.equal(await tone(), 'ok')
      await view.until('what is announced', () => view.text('#announcer'), 'Live. 1 pods')
      await view.page.evaluate(() => { globalThis.ahead = 43_000 })
      const heard = async () => Number(/^Live, last heard (\d+) s ago$/.exec(await view.text('#connection-text'))?.[1])
      await view.until('how long ago', async () => await heard() >= 43)
      assert.equal(await tone(), 'quiet')
      await view.picture('quiet')
      const before = await heard()
      await view.until('the next second', async () => await heard() > before)
      assert.equal(await view.text('#announcer'), 'Live. 1 pods', 'a screen reader does not hear each second')
      await view.create('pods', pod('web-1'))
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await tone(), 'ok')
    }))

    it('says what does not work while the rest does', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.page.evaluateOnNewDocument(() => { Storage.prototype.setItem = () => { throw new Error('no room') } })
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const line = (kind) => view.text(`#notices [data-kind="${kind}"] span`)
      await view.until('that nothing is stored', () => line('storage'), 'The next visit must wait for the server, because this browser stores nothing: no room')
      await view.page.click('#theme')
      await view.until('that the theme is not stored', () => line('theme'), 'The theme is for this page only, because this browser stores nothing: no room')
      await view.answer('/apis', 503, { message: 'overloaded' })
      await view.page.click('#refresh')
      await view.until('that the menu is old', () => line('collections'), 'The menu may be out of date: the server answered 503: overloaded')
      await view.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('not allowed')) } }))
      await view.page.click('#detail header .quiet')
      await view.until('that nothing was copied', () => view.text('#detail header .quiet'), 'Not copied: not allowed')
      await view.accessible(axe, 'notices')
      await view.picture('notices')
      await view.passOn()
      await view.page.click('#refresh')
      await view.until('that the menu is new', async () => await line('collections') === undefined)
      await view.page.click('[data-kind="storage"] button')
      assert.equal(await line('storage'), undefined)
    }))

    it('says that the namespaces are not followed any more', play({ tokens: { 'token-of-ann': 'admin' } }, async (view, cluster) => {
      await view.goto('#/v1/pods')
      await view.until('the question', () => view.page.$eval('#connect', (e) => e.open))
      await view.page.type('#connect-token', 'token-of-ann')
      await view.page.keyboard.press('Enter')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await cluster.revoke({ token: 'token-of-ann' })
      await cluster.end()
      await view.until('why', async () => /^The namespaces are not followed. The server does not know the token: ./.test(await view.text('#notices [data-kind="namespaces"] span')))
      await view.until('why there is no news', async () => /^The server does not know the token/.test(await view.text('#connection-text')))
    }))

    it('says that the page itself has failed', play({}, async (view) => {
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#failure', (element) => element.hidden), true)
      await view.answer('/apis', 200, { kind: 'APIGroupDiscoveryList', items: [null] })
      await view.page.click('#refresh')
      await view.until('the exception', async () => /TypeError/.test(await view.text('#failure-text')))
      await view.page.evaluate(() => dispatchEvent(new PromiseRejectionEvent('unhandledrejection', { promise: Promise.resolve(), reason: new Error('lost') })))
      await view.until('the rejection', async () => /TypeError.*; lost$/.test(await view.text('#failure-text')))
      assert.equal(await view.page.$eval('#failure', (element) => element.hidden), false)
      await view.accessible(axe, 'failure')
      await view.picture('failure')
      assert.match(view.complaints.splice(0).join(), /TypeError/)
      await view.page.click('#reload')
      await view.until('a page without a failure', () => view.page.$eval('#failure', (element) => element.hidden))
    }))

    it('says that a script did not load', play({}, async (view) => {
      await view.page.setRequestInterception(true)
      view.page.on('request', (request) => (request.url().endsWith('/detail.js') ? request.abort() : request.continue()))
      await view.goto('#/v1/pods')
      await view.until('the script', async () => /\/app\.js could not be loaded$/.test(await view.text('#failure-text')))
      view.complaints.length = 0
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
      const secondOf = (time) => Date.parse(`1970-01-01T${time}Z`) / 1000, then = secondOf(await stale())
      await view.until('a later time', () => seconds() > stopped + 2)
      await view.page.reload()
      await view.rows('shop/web-0')
      // The page and the worker, which keeps the time, may have heard of the last event in two different seconds.
      await view.until('the time before it was loaded', async () => Math.abs(secondOf(await stale()) - then) <= 1)
      await cluster.restart()
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#stale', (e) => e.hidden), true)
    }))

    it('gives no number of what was never listed, and says in its place why', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await view.until('the count', () => view.text('#count'), '1')
      await cluster.stop()
      await view.until('that the server is away', async () => /next try/.test(await view.text('#connection-text')))
      await view.page.click('a[title="v1/secrets"]')
      await view.until('what stands in place of rows', () => view.text('#empty strong'), 'Not listed yet: No connection')
      assert.equal(await view.page.$eval('#empty', (e) => e.checkVisibility()), true)
      assert.deepEqual([await view.text('#title'), await view.text('#count')], ['Secrets', ''])
      await cluster.restart()
      await view.until('that there are none', () => view.text('#empty strong'), 'No secrets')
      assert.equal(await view.text('#count'), '0')
      await cluster.stop()
      await view.until('that there were none', () => view.text('#empty strong'), 'There were no secrets')
    }))

    it('shows nothing of the collection before when the URL names none, and says what to do', play({}, async (view) => {
      await view.goto('#/v1/pods')
      await view.until('that it is heard', () => view.text('#announcer'), 'Live. 0 pods')
      await view.page.evaluate(() => { location.hash = '#/nosuch' })
      await view.until('what is wrong', () => view.text('#connection-text'), 'The server has no such collection')
      assert.deepEqual([await view.text('#title'), await view.text('#count'), await view.page.title()], ['nosuch', '', 'nosuch · listwatch'])
      assert.doesNotMatch(await view.text('#announcer'), /pods/)
      assert.deepEqual(await view.texts('#empty > *'), ['The server has no such collection', 'the server does not list nosuch',
        'Choose another one in the menu, or ask the server with ⟳ for what it has now.'])
      await view.until('what is told aloud', () => view.text('#announcer'), 'The server has no such collection')
      await view.page.click('a[title="v1/secrets"]')
      await view.until('another collection', () => view.text('#announcer'), 'Live. 0 secrets')
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

    it('offers to enter another token after a 401', play({ tokens: { first: 'admin', second: 'admin' } }, async (view, cluster) => {
      await view.create('pods', pod('web-0'), 'first')
      await view.goto('#/v1/pods')
      const asks = () => view.page.$eval('#connect', (dialog) => dialog.open)
      const enter = async (token) => {
        await view.until('the question', asks)
        await view.page.$eval('#connect-token', (input, token) => { input.value = token }, token)
        await view.page.keyboard.press('Enter')
      }
      const shows = async () => {
        await view.until('the connection', () => view.text('#connection-text'), 'Live')
        await view.rows('shop/web-0')
        assert.equal(await view.page.$eval('#retry', (button) => button.hidden), true)
      }
      await enter('wrong')
      await view.until('the rejection', async () => await asks() && /401/.test(await view.text('#connect-why')))
      await view.page.click('#connect-cancel')
      await view.until('the offer', () => view.text('#retry'), 'Enter another token')
      await view.page.click('#retry')
      await enter('first')
      await shows()
      await cluster.revoke({ token: 'first' })
      await cluster.end()
      await view.until('the cause', async () => /^The server does not know the token · /.test(await view.text('#connection-text')))
      await view.until('the offer', () => view.text('#retry'), 'Enter another token')
      await view.accessible(axe, 'another token')
      await view.picture('token')
      await view.page.click('#retry')
      assert.match(await view.text('#connect-why'), /Unauthorized/)
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'connect-token')
      await enter('second')
      await shows()
    }))

    for (const sockets of [true, false]) {
      it(`HTTP/1.1, ${sockets ? 'with' : 'without'} WebSocket: six tabs load, follow their collections, and say whether changes arrive late`, play({}, async (view, cluster, open) => {
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
          for (const tab of tabs) {
            await tab.page.bringToFront() // a browser draws no hidden tab
            await tab.rows('shop/a', 'shop/b')
            const live = sockets ? /^Live(, last heard.*)?$/ : /^Live, some seconds late(, last heard.*)?$/
            await tab.until('the corner', async () => live.test(await tab.text('#connection-text')))
          }
          if (!sockets) assert.match(await tabs.at(-1).page.$eval('#connection', (corner) => corner.title), /HTTP\/2/)
          await tabs.at(-1).picture(sockets ? 'tabs' : 'turns')
          bounded(at)
        } finally {
          at.close()
        }
      }))
    }

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
