// Tests the dashboard of examples/browser by operating it like a user.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { Theatre } from './play.mjs'
import { relay } from './relay.mjs'
import { pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')

export function dashboard(name) {
  describe(name, { concurrency: 1 }, () => {
    const theatre = new Theatre(), play = theatre.play.bind(theatre)
    before(() => theatre.begin(name))
    after(() => theatre.end())

    it('lists the server\'s collections, and shows the selected collection with its columns', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('')
      await view.rows('shop/web-0')
      assert.deepEqual(await view.texts('.head button'), ['Namespace', 'Name', 'Ready', 'Status', 'Restarts', 'Node', 'IP', 'Age'])
      assert.deepEqual((await view.texts('.row:not([hidden]) > div')).slice(0, 4), ['shop', 'web-0', '1/1', 'Running'])
      await view.page.click('a[title="lw.example.com/v1/widgets"]')
      await view.until('the widgets', () => view.text('#empty strong'), 'No widgets')
      assert.equal(await view.text('.sidebar [aria-current]'), 'widgets lw.example.com')
      assert.match(view.page.url(), /#\/lw\.example\.com\/v1\/widgets$/)
    }))

    it('marks recent changes and lists the changed fields', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.create('pods', pod('web-1'))
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.rows('shop/web-0', 'shop/web-1')
      assert.deepEqual(await view.texts('[data-mark]'), [], 'objects from the first list must not be marked')
      await view.patch('pods', 'shop', 'web-0', { status: { phase: 'Failed', reason: 'Evicted', containerStatuses: [] } })
      await view.until('the mark', () => view.text('.row[data-mark="modified"] > div:nth-child(2)'), 'web-0')
      await view.until('the cell', () => view.text('.row[data-mark="modified"] > div:nth-child(4)'), 'Evicted')
      const fields = () => view.texts('.changes .field')
      await view.until('the changed field', async () => (await fields()).includes('status.phaseRunning→Failed'))
      assert.deepEqual(await fields(), ['status.containerStatuses[main]name: main\nready: true\nrestartCount: 0\nstate:\n  running: {}removed', 'status.phaseRunning→Failed', 'status.reason+Evicted'])
      await view.until('the mark in the YAML', async () => (await view.texts('.yaml .changed')).includes('  phase: Failed\n'))
      await view.picture('detail')
      await view.remove('pods', 'shop', 'web-0')
      await view.until('the deletion', async () => /^deleted/.test(await view.text('.detail .sub')))
      await view.rows('shop/web-1')
    }))

    it('shows all fields that changed before an object was selected, and explains why only the fields in the table are known', play({}, async (view, cluster) => {
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
      await view.until('all changed fields', async () => (await fields()).sort().join(), all.join())
      await view.until('the whole object', async () => (await view.texts('.yaml .changed')).includes('    note: hello\n'))
      await cluster.compact() // the server forgets the state of web-1 before its change
      await view.page.goto(view.page.url().replace('web-0', 'web-1'))
      await view.until('the changed fields in the table', async () => (await fields()).join() === 'status.phaseRunning→Failed')
      await view.until('the reason', async () => /^Only the fields in the table are shown.*no longer keeps this version/.test(await view.text('.changes .part')))
      await view.until('the whole object', async () => (await view.texts('.yaml .line')).includes('    note: hello\n'))
    }))

    it('shows the whole object of a row that has not changed since the page loaded', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.until('a field that is not in the table', async () => (await view.texts('.yaml .line')).some((line) => /image: images.example/.test(line)))
      assert.equal(await view.text('.yaml .comment'), undefined)
      await view.remove('pods', 'shop', 'web-0')
      await view.rows()
      assert.equal(await view.text('.yaml .comment'), undefined, 'the object must remain visible after its deletion')
    }))

    it('explains why the whole object is not shown', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.rows('shop/web-0')
      await view.answer('/pods/web-0', 503, { message: 'overloaded' })
      await view.page.evaluate(() => { location.hash += '?sel=shop/web-0' })
      await view.until('the reason', () => view.text('.yaml .comment'), '# Only the fields in the table are shown. The server did not return the rest: the server answered 503: overloaded.\n')
    }))

    // A quiet server sends no bookmarks, so the page receives nothing after the first list until an object changes.
    it('shows the time since a quiet server last sent data', play({ quiet: true }, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.page.evaluateOnNewDocument(() => { // lets the test put the page's clock forward
        const { now } = Date
        Date.now = () => now() + (globalThis.ahead ?? 0)
      })
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const tone = () => view.page.$eval('#connection', (element) => element.dataset.tone)
      assert.equal(await tone(), 'ok')
      await view.until('the announcement', () => view.text('#announcer'), 'Live. 1 pods')
      await view.page.evaluate(() => { globalThis.ahead = 13_000 }) // more than IDLE_AFTER in status.js
      const heard = async () => Number(/^Live, last update (\d+) s ago$/.exec(await view.text('#connection-text'))?.[1])
      await view.until('the time since the last message', async () => await heard() >= 13)
      assert.equal(await tone(), 'quiet')
      await view.picture('quiet')
      const before = await heard()
      await view.until('the next second', async () => await heard() > before)
      assert.equal(await view.text('#announcer'), 'Live. 1 pods', 'a screen reader must not announce each second')
      await view.create('pods', pod('web-1'))
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await tone(), 'ok')
    }))

    it('shows notices about failed features while the rest of the page works', play({}, async (view) => {
      await view.create('pods', pod('web-0'))
      await view.page.evaluateOnNewDocument(() => { Storage.prototype.setItem = () => { throw new Error('no room') } })
      await view.goto('#/v1/pods?sel=shop/web-0')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const line = (kind) => view.text(`#notices [data-kind="${kind}"] span`)
      await view.until('the notice about storage', () => line('storage'), 'The next visit must wait for the server because the browser cannot save data: no room')
      await view.page.click('#theme')
      await view.until('the notice about the theme', () => line('theme'), 'The theme applies only to this page because the browser cannot save it: no room')
      await view.answer('/apis', 503, { message: 'overloaded' })
      await view.page.click('#refresh')
      await view.until('the notice about the menu', () => line('collections'), 'The menu may be out of date: the server answered 503: overloaded')
      await view.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('not allowed')) } }))
      await view.page.click('#detail header .quiet')
      await view.until('the failed copy', () => view.text('#detail header .quiet'), 'Not copied: not allowed')
      await view.accessible(axe, 'notices')
      await view.picture('notices')
      await view.passOn()
      await view.page.click('#refresh')
      await view.until('the refreshed menu', async () => await line('collections') === undefined)
      await view.page.click('[data-kind="storage"] button')
      assert.equal(await line('storage'), undefined)
    }))

    it('reports that the namespaces are no longer watched', play({ tokens: { 'token-of-ann': true } }, async (view, cluster) => {
      await view.goto('#/v1/pods')
      await view.until('the token dialog', () => view.page.$eval('#connect', (e) => e.open))
      await view.page.type('#connect-token', 'token-of-ann')
      await view.page.keyboard.press('Enter')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await cluster.revoke({ token: 'token-of-ann' })
      await cluster.end() // closes the open watches, because revoke affects only new requests
      await view.until('the reason', async () => /^The namespaces are not watched. The server rejected the token: ./.test(await view.text('#notices [data-kind="namespaces"] span')))
      await view.until('the cause of the interruption', async () => /^The server rejected the token/.test(await view.text('#connection-text')))
    }))

    it('reports exceptions and rejections in the page\'s own code', play({}, async (view) => {
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
      assert.match(view.complaints.splice(0).join(), /TypeError/) // removes the expected error, which would fail the test
      await Promise.all([view.page.waitForNavigation(), view.page.click('#reload')])
      await view.until('a page without a failure', () => view.page.$eval('#failure', (element) => element.hidden))
    }))

    it('reports a script that failed to load', play({}, async (view) => {
      await view.page.setRequestInterception(true)
      // app.js imports detail.js. If an import fails, the browser reports the script element of the page, which is app.js.
      view.page.on('request', (request) => (request.url().endsWith('/detail.js') ? request.abort() : request.continue()))
      await view.goto('#/v1/pods')
      await view.until('the name of the script', async () => /\/app\.js could not be loaded$/.test(await view.text('#failure-text')))
      view.complaints.length = 0 // removes the expected errors, which would fail the test
    }))

    it('adds new collections to the menu and removes deleted collections', play({}, async (view, cluster) => {
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
      await view.until('the empty collection', () => view.text('#empty strong'), 'No gadgets')
      await cluster.undefine({ name: 'gadgets' })
      await view.until('the removal', async () => !await view.page.$(gadgets))
      await view.until('the reason', async () => /^The server has no such collection/.test(await view.text('#connection-text')))
      await cluster.define({ name: 'gadgets' })
      await view.page.click('#refresh')
      await view.until('the recreated collection', () => view.text('#empty strong'), 'No gadgets')
      await cluster.define({ name: 'gizmos' })
      await cluster.stop()
      await view.until('the interruption', async () => /next try/.test(await view.text('#connection-text')))
      await cluster.restart()
      await view.until('the collection that was added during the outage', () => view.page.$('a[title="example.com/v1/gizmos"]'))
    }))

    it('retries immediately at the user\'s request', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const shown = () => view.page.$eval('#retry', (button) => !button.hidden)
      assert.equal(await shown(), false)
      await cluster.stop()
      const left = async () => Number(/next try in (\d+) s/.exec(await view.text('#connection-text'))?.[1] ?? 0)
      let tries = 0, last = 0
      await view.until('ten retries', async () => { // each retry doubles the delay, so without clicks ten retries would take minutes
        const now = await left()
        if (now > last) tries++
        last = now
        if (tries >= 10 && now > 3) return true // so that the key press below comes before the next automatic retry
        await view.page.evaluate(() => document.getElementById('retry').click())
        return false
      })
      await view.page.focus('#retry')
      await cluster.restart()
      await view.page.keyboard.press('Enter')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await shown(), false)
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'grid', 'the focus must move to the grid when the button disappears')
    }))

    it('searches, sorts and selects a namespace, and reflects these choices in the URL', play({}, async (view) => {
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
      await view.until('the "no matches" message', () => view.text('#empty strong'), 'Nothing matches “app=web”')
      await view.page.focus('#grid')
      await view.page.keyboard.press('Escape')
      await view.rows('web-0')
    }))

    it('can be operated with the keyboard alone', play({}, async (view) => {
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
      await view.until('the details pane', () => view.text('#detail-name'), 'b')
      await press('End')
      await view.until('the details pane of the selected row', () => view.text('#detail-name'), 'c')
      await press('Enter')
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'detail-name')
      await press('Escape')
      await view.until('the closed details pane', () => view.page.$eval('#detail', (e) => e.hidden))
      await press('Escape')
      await view.until('the empty search', () => view.page.$eval('#search', (e) => e.value === ''))
      await press('g')
      await view.page.keyboard.type('deplo')
      await press('Enter')
      await view.until('the other collection', () => view.text('#title'), 'Deployments')
    }))

    it('shows the cause of an interruption, the time until the next retry and the age of the data', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await cluster.stop()
      await view.until('the cause and the countdown', async () => /^No connection · next try in \d+ s$/.test(await view.text('#connection-text')))
      assert.match(await view.text('#stale'), /^Stale: last update at \d\d:\d\d:\d\d, \d+s ago\. Later changes are unknown\. Cause: ./)
      await view.until('the announcement', () => view.text('#announcer'), 'No connection')
      await view.picture('offline')
      await cluster.restart()
      await view.create('pods', pod('web-1'))
      await view.rows('shop/web-0', 'shop/web-1')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#stale', (e) => e.hidden), true)
    }))

    // The relay puts another cluster behind the same port, as if the cluster had been rebuilt. Both clusters are quiet: they send
    // no bookmarks. Only the page's own check can reveal the other cluster.
    for (const [difference, before, after] of [['lower', 100, 0], ['higher', 0, 100]]) {
      it(`replaces the objects of a server that was rebuilt with ${difference} resourceVersions, and is not live before that`, play({ quiet: true }, async (view, cluster) => {
        const rebuilt = await theatre.stage.cluster({ quiet: true }), at = await relay(cluster.url)
        try {
          await cluster.write({ n: before, seed: 1 })
          for (const name of ['old-0', 'old-1']) await view.create('pods', pod(name))
          view.address = `${theatre.stage.url}/ui/?server=${encodeURIComponent(at.url)}`
          await view.goto('#/v1/pods')
          await view.rows('shop/old-0', 'shop/old-1')
          await view.until('the connection', async () => /^Live/.test(await view.text('#connection-text')))
          await view.page.evaluate(recordStatus)
          at.to('')
          await view.until('the interruption', async () => /^⚠/.test(await view.page.title()))
          await view.picture(`rebuilt-${difference}-outage`)
          view.cluster = rebuilt
          await view.create('pods', pod('new'))
          await rebuilt.write({ n: after, seed: 2 })
          at.to(rebuilt.url)
          await view.rows('shop/new')
          await view.until('the connection', async () => /^Live/.test(await view.text('#connection-text')))
          await view.picture(`rebuilt-${difference}`)
          assert.deepEqual(await view.page.evaluate(() => globalThis.lies), [])
        } finally {
          at.close()
          await rebuilt.stop()
        }
      }))
    }

    it('shows the saved objects as stale after a reload during an outage', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const stale = async () => /^Stale: last update at (\S+),/.exec(await view.text('#stale'))?.[1]
      const seconds = () => Math.floor(Date.now() / 1000)
      await cluster.stop()
      const stopped = seconds()
      await view.until('the time of the stale data', stale)
      const secondOf = (time) => Date.parse(`1970-01-01T${time}Z`) / 1000, then = secondOf(await stale())
      await view.until('a later time', () => seconds() > stopped + 2)
      await view.page.reload()
      await view.rows('shop/web-0')
      // The worker saves the time at which it received the last event. The page may show this time up to one second
      // earlier or later.
      await view.until('the time of the last update before the reload', async () => Math.abs(secondOf(await stale()) - then) <= 1)
      await cluster.restart()
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      assert.equal(await view.page.$eval('#stale', (e) => e.hidden), true)
    }))

    it('shows the cause of an interruption instead of a count before the first list', play({}, async (view, cluster) => {
      await view.create('pods', pod('web-0'))
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      await view.until('the count', () => view.text('#count'), '1')
      await cluster.stop()
      await view.until('the interruption', async () => /next try/.test(await view.text('#connection-text')))
      await view.page.click('a[title="v1/secrets"]')
      await view.until('the message instead of rows', () => view.text('#empty strong'), 'Not loaded yet · No connection')
      assert.equal(await view.page.$eval('#empty', (e) => e.checkVisibility()), true)
      assert.deepEqual([await view.text('#title'), await view.text('#count')], ['Secrets', ''])
      await cluster.restart()
      await view.until('the empty list', () => view.text('#empty strong'), 'No secrets')
      assert.equal(await view.text('#count'), '0')
      await cluster.stop()
      await view.until('the empty list after the interruption', () => view.text('#empty strong'), 'There were no secrets')
    }))

    it('replaces the previous collection with an error and a hint if the URL names an unknown collection', play({}, async (view) => {
      await view.goto('#/v1/pods')
      await view.until('the announcement', () => view.text('#announcer'), 'Live. 0 pods')
      await view.page.evaluate(() => { location.hash = '#/nosuch' })
      await view.until('the error', () => view.text('#connection-text'), 'The server has no such collection')
      assert.deepEqual([await view.text('#title'), await view.text('#count'), await view.page.title()], ['nosuch', '', '⚠ · nosuch · listwatch'])
      assert.doesNotMatch(await view.text('#announcer'), /pods/)
      assert.deepEqual(await view.texts('#empty > *'), ['The server has no such collection', 'the server does not offer "nosuch"',
        'Choose another collection in the menu, or refresh the menu with ⟳.'])
      await view.until('the announcement', () => view.text('#announcer'), 'The server has no such collection')
      await view.page.click('a[title="v1/secrets"]')
      await view.until('the announcement of the other collection', () => view.text('#announcer'), 'Live. 0 secrets')
    }))

    it('sorts by age with the youngest object first, and sorts events this way by default', play({}, async (view) => {
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

    it('neither shows nor receives the values of a Secret', play({}, async (view) => {
      const data = { password: 'c2VjcmV0LXZhbHVl' }
      await view.create('secrets', { metadata: { name: 'db', namespace: 'shop', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data }) } }, data })
      await view.goto('#/v1/secrets?sel=shop/db')
      await view.until('the details pane', () => view.text('#detail-name'), 'db')
      await view.patch('secrets', 'shop', 'db', { data: { password: 'YW5vdGhlci1vbmU=' } })
      await view.until('the change', async () => (await view.texts('.changes .field')).length === 1)
      const html = await view.page.content()
      for (const secret of [data.password, 'YW5vdGhlci1vbmU=']) assert.ok(!html.includes(secret))
    }))

    it('asks for a token and does not store it', play({ tokens: { 'token-of-ann': true } }, async (view) => {
      await view.create('pods', pod('web-0'), 'token-of-ann')
      await view.goto('#/v1/pods')
      await view.until('the token dialog', () => view.page.$eval('#connect', (e) => e.open))
      await view.page.type('#connect-token', 'token-of-ann')
      await view.page.keyboard.press('Enter')
      await view.rows('shop/web-0')
      const kept = await view.page.evaluate(() => JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML]))
      assert.ok(!kept.includes('token-of-ann'))
      assert.deepEqual(await view.page.evaluate(() => indexedDB.databases()), [], 'no objects must be saved for the next user of the browser')
      assert.equal(await view.page.$eval('#connect-token', (e) => e.value), '')
    }))

    it('offers to enter another token after a 401 response', play({ tokens: { first: true, second: true } }, async (view, cluster) => {
      await view.create('pods', pod('web-0'), 'first')
      await view.goto('#/v1/pods')
      const asks = () => view.page.$eval('#connect', (dialog) => dialog.open)
      const enter = async (token) => {
        await view.until('the token dialog', asks)
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
      await view.until('the button for another token', () => view.text('#retry'), 'Enter another token')
      await view.page.click('#retry')
      await enter('first')
      await shows()
      await cluster.revoke({ token: 'first' })
      await cluster.end() // closes the open watches, because revoke affects only new requests
      await view.until('the cause', async () => /^The server rejected the token · /.test(await view.text('#connection-text')))
      await view.until('the button for another token', () => view.text('#retry'), 'Enter another token')
      await view.accessible(axe, 'another token')
      await view.picture('token')
      await view.page.click('#retry')
      assert.match(await view.text('#connect-why'), /Unauthorized/)
      assert.equal(await view.page.evaluate(() => document.activeElement.id), 'connect-token')
      await enter('second')
      await shows()
    }))

    it('fits in a narrow window, even with long messages', play({}, async (view, cluster) => {
      const status = { phase: 'Running', containerStatuses: [{ name: 'main', ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }] }
      await view.create('pods', { ...pod('web-0'), status })
      await view.page.setViewport({ width: 390, height: 780 })
      await view.goto('#/v1/pods')
      await view.until('the connection', () => view.text('#connection-text'), 'Live')
      const wide = () => view.page.evaluate(() => document.documentElement.scrollWidth)
      assert.equal(await wide(), 390, 'the page must not be wider than the window')
      const outside = () => view.page.$$eval('.bar > *, .toolbar > *, .goto, #connection-text, .head > :nth-child(-n+4)', (all) => all
        .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth || e.id === 'connection-text' && e.scrollWidth > e.clientWidth)).map((e) => e.outerHTML))
      assert.deepEqual(await outside(), [])
      assert.ok(await view.page.$eval('.row .dotted', (cell) => cell.textContent === 'CrashLoopBackOff' && cell.scrollWidth <= cell.clientWidth), 'the status must not be truncated')
      await cluster.stop()
      await view.until('the cause and the countdown', async () => /^No connection · next try/.test(await view.text('#connection-text')))
      assert.deepEqual(await outside(), [])
      await view.picture('narrow')
      await view.look('dark')
      await view.accessible(axe, 'narrow and interrupted')
    }))

    for (const width of [1440, 768, 390, 320]) {
      it(`has no problem that axe finds, in both themes, ${width} pixels wide`, play({}, async (view) => {
        await view.page.setViewport({ width, height: 860 })
        for (const name of ['a', 'checkout-service-with-a-long-name-7d9f8b6c5d-x2k4p']) await view.create('pods', pod(name, 'shop', { app: 'web' }))
        await view.create('pods', { ...pod('c'), status: { phase: 'Pending' } })
        for (const scheme of ['light', 'dark']) {
          await view.look(scheme)
          await view.goto('#/v1/pods')
          await view.until('the connection', () => view.text('#connection-text'), 'Live')
          await view.look(scheme) // again, because a page load removes the theme if the browser cannot emulate it; see look
          await view.accessible(axe, `table, ${scheme}`)
          assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth), width, 'the page must not be wider than the window')
          for (const tab of ['overview', 'yaml', 'events', 'changes']) {
            await view.goto(`#/v1/pods?sel=shop/a&tab=${tab}`)
            await view.until('the details pane', () => view.text('#detail-name'), 'a')
            await view.accessible(axe, `${tab}, ${scheme}`)
          }
          await view.picture(`${width}-${scheme}`)
          await view.goto('#/v1/secrets')
          await view.until('the message', () => view.text('#empty strong'), 'No secrets')
          await view.accessible(axe, `empty, ${scheme}`)
          await view.page.evaluate(() => document.getElementById('help').showModal()) // the next test uses the button
          await view.accessible(axe, `help, ${scheme}`)
          await view.page.evaluate(() => document.getElementById('help').close())
        }
      }))
    }

    it('has accessible names and roles and sufficient contrast in both themes', play({}, async (view) => {
      await view.look('light')
      for (const name of ['a', 'b']) await view.create('pods', pod(name))
      await view.create('pods', { ...pod('c'), status: { phase: 'Pending' } })
      await view.goto('#/v1/pods?sel=shop/a')
      await view.until('the details pane', () => view.text('#detail-name'), 'a')
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

// Records each moment at which the page, after its first interruption, shows an object of the old server that is not
// marked as deleted, and claims to be live or has no warning in its title.
function recordStatus() {
  globalThis.lies = []
  let interrupted = false
  const look = () => {
    const status = document.getElementById('connection-text').textContent
    interrupted ||= !status.startsWith('Live')
    const old = [...document.querySelectorAll('.row:not([hidden]):not(.gone)')].filter(({ dataset }) => /old-/.test(dataset.key))
    const troubled = document.title.startsWith('⚠')
    if (interrupted && old.length && (status.startsWith('Live') || !troubled)) globalThis.lies.push(`${document.title}: ${status}`)
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
