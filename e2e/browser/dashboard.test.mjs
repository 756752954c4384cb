// The dashboard of examples/browser in Chromium, as a user drives it. Pictures of it go to bin/screenshots/.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'
import { Stage, until } from './stage.mjs'
import { View, pod } from './view.mjs'

const axe = createRequire(import.meta.url).resolve('axe-core')
const pictures = fileURLToPath(new URL('../../bin/screenshots/', import.meta.url))
mkdirSync(pictures, { recursive: true })

describe('dashboard', () => {
  let browser, stage
  before(async () => {
    [browser, stage] = await Promise.all([launch('chrome'), Stage.start()])
  })
  after(async () => {
    await browser?.close()
    stage?.stop()
  })

  const play = (options, course) => async () => {
    const profile = await browser.createBrowserContext()
    const cluster = await stage.cluster(options)
    try {
      const view = await View.open(profile, stage.url, cluster)
      await course(view, cluster, profile)
      assert.deepEqual(view.complaints, [])
    } finally {
      await profile.close()
      await cluster.close()
    }
  }

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
    assert.deepEqual(await fields(), ['status.containerStatuses[main]{"name":"main","ready":true,"restartCount":0,"state":{"running":{}}}→removed', 'status.phaseRunning→Failed', 'status.reason→Evicted'])
    assert.ok((await view.texts('.yaml .changed')).includes('  phase: Failed\n'))
    await view.picture('detail')
    await view.remove('pods', 'shop', 'web-0')
    await view.until('that it is gone', async () => /^deleted/.test(await view.text('.detail .sub')))
    await view.rows('shop/web-1')
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

  it('keeps few rows in the page, however many there are', play({}, async (view) => {
    const n = 10_000
    const numbers = Array.from({ length: n }, (_, i) => `pod-${String(i).padStart(5, '0')}`)
    await Promise.all(Array.from({ length: 16 }, async (_, w) => {
      for (let i = w; i < n; i += 16) await view.create('pods', pod(numbers[i]))
    }))
    await view.goto('#/v1/pods')
    await view.until('all are there', () => view.text('#count'), '10,000')
    const elements = () => view.page.$$eval('.row', (rows) => rows.length)
    assert.ok(await elements() < 80, `${await elements()} rows`)
    await view.page.focus('#grid')
    await view.page.keyboard.press('End')
    await view.until('the last one', async () => (await view.texts('.row[aria-selected="true"] > div'))[1], numbers.at(-1))
    assert.equal(await view.page.$eval('#grid', (e) => e.getAttribute('aria-rowcount')), String(n + 1))
    const frames = await view.scroll()
    console.log(`frames while 10,000 rows are scrolled: median ${frames.median.toFixed(1)} ms, 95 % ${frames.most.toFixed(1)} ms, longest ${frames.longest.toFixed(1)} ms`)
    assert.ok(await elements() < 80, `${await elements()} rows`)
    await view.page.type('#search', '09999')
    await view.rows('shop/pod-09999')
    await view.page.$eval('#search', (e) => { e.value = ''; e.dispatchEvent(new Event('input')) })
    await view.picture('many')
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

  it('has names, roles and contrast, light and dark', play({}, async (view) => {
    const still = { name: 'prefers-reduced-motion', value: 'reduce' } // what fades has any contrast on its way
    await view.page.emulateMediaFeatures([still])
    for (const name of ['a', 'b']) await view.create('pods', pod(name))
    await view.create('pods', { ...pod('c'), status: { phase: 'Pending' } })
    await view.goto('#/v1/pods?sel=shop/a')
    await view.until('the detail', () => view.text('#detail-name'), 'a')
    await view.patch('pods', 'shop', 'a', { status: { phase: 'Pending' } })
    await view.until('the change', async () => (await view.texts('.changes .field')).length === 1)
    for (const scheme of ['light', 'dark']) {
      await view.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, still])
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
