// Tests the dashboard in Chromium with 10,000 Pods of 5 kB each. It prints times, but no assertion depends on them.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Theatre } from './play.mjs'
import { countParsing, memory, scroll } from './weigh.mjs'

const N = 10_000, RATE = 200 // number of Pods, and changes per second
const theatre = new Theatre()
before(() => theatre.begin('chrome'))
after(() => theatre.end())

it('with 10,000 Pods, the page parses and keeps only the visible Pods, even during changes', theatre.play({}, async (view, cluster) => {
  await cluster.fill({ n: N })
  await countParsing(view.page)
  await noteMoments(view.page)
  await view.goto('#/v1/pods')
  await view.until('all Pods', () => view.text('#count'), '10,000')
  await view.until('the connection', () => view.text('#connection-text'), 'Live')
  await view.until('the first rows and the complete list', () => view.page.evaluate(() => globalThis.moments.rows && globalThis.moments.live))
  const { texts, bytes, rows, live } = await view.page.evaluate(() => ({ ...globalThis.parsed, ...globalThis.moments }))
  const mega = await memory(view.page)
  console.log(`10,000 Pods: first rows after ${rows.toFixed(0)} ms, complete after ${live.toFixed(0)} ms; parsed ${texts} strings with ${bytes} bytes; ` +
    `${mega.page.toFixed(1)} MB in the page, ${mega.worker.toFixed(1)} MB in the worker`)
  const elements = () => view.page.$$eval('.row', (rows) => rows.length)
  assert.ok(await elements() < 80, `the table has ${await elements()} row elements`)
  assert.ok(texts < 200, `the page parsed ${texts} objects`)
  assert.ok(mega.page < 25 && mega.worker < 25, 'the page and its worker must each use less than 25 MB; all whole objects would need 45 MB')

  const churn = start(cluster)
  const frames = await scroll(view.page, 6000)
  console.log(`scrolled for 6 s at ${await churn.end()} changes/s: median frame ${frames.median.toFixed(0)} ms, 95th percentile ` +
    `${frames.most.toFixed(0)} ms, longest ${frames.longest.toFixed(0)} ms; longest main-thread block ${frames.block.toFixed(0)} ms`)
  assert.ok(await elements() < 80, `the table has ${await elements()} row elements`)

  await view.page.focus('#grid')
  await view.page.keyboard.press('End')
  // The header is row 1.
  await view.until('the last row', () => view.page.$eval('#grid', (grid) => document.getElementById(grid.getAttribute('aria-activedescendant'))?.getAttribute('aria-rowindex')), String(N + 1))
  assert.equal(await view.page.$eval('#grid', (grid) => grid.getAttribute('aria-rowcount')), String(N + 1))
  await view.page.type('#search', '-9999')
  await view.until('the Pod that matches the search', async () => /^1 of 10,000$/.test(await view.text('#count')))
  await view.page.$eval('#search', (e) => { e.value = ''; e.dispatchEvent(new Event('input')) })
  await view.picture('many')
}))

it('with 10,000 Pods, a frame that filters or sorts all rows parses only visible Pods', theatre.play({}, async (view, cluster) => {
  await cluster.fill({ n: N })
  await countParsing(view.page)
  await countFrames(view.page)
  await view.goto('#/v1/pods')
  await view.until('all Pods', () => view.text('#count'), '10,000')
  await view.until('the connection', () => view.text('#connection-text'), 'Live')
  // The actions run in the page, one per frame, so that they come before the page has read all rows.
  const actions = await view.page.evaluate(async () => {
    const search = document.getElementById('search')
    search.focus()
    const type = (text) => () => {
      search.value = text
      search.dispatchEvent(new Event('input'))
    }
    const click = (title) => () => [...document.querySelectorAll('.head button')].find((button) => button.textContent === title).click()
    const results = []
    for (const act of [type('p'), type('po'), click('Node'), type('pod-1')]) {
      const last = globalThis.frames.length, before = globalThis.parsed.texts
      act()
      while (globalThis.frames.length === last) await globalThis.nextFrame()
      results.push({ before, ...globalThis.frames[last] })
    }
    return results
  })
  console.log(`frames after an action: ${actions.map(({ ms, parsed }) => `${ms.toFixed(0)} ms with ${parsed} parsed objects`).join(', ')}`)
  for (const { before, parsed } of actions) {
    assert.ok(before < N - 1000, `the page had parsed ${before} objects before the action`)
    assert.ok(parsed < 80, `the frame after the action parsed ${parsed} objects`)
  }
  await view.until('the parsing of all objects', async () => await view.page.evaluate(() => globalThis.parsed.texts) >= N)
}))

// Records the duration of each of the page's animation frames and the number of objects that the page parses in it.
const countFrames = (page) => page.evaluateOnNewDocument(() => {
  const frames = globalThis.frames = [], request = requestAnimationFrame
  globalThis.nextFrame = () => new Promise((resolve) => request(resolve))
  globalThis.requestAnimationFrame = (draw) => request((at) => {
    const began = performance.now(), before = globalThis.parsed.texts
    draw(at)
    frames.push({ ms: performance.now() - began, parsed: globalThis.parsed.texts - before })
  })
})

// Records when the page shows the first rows and when it shows that the collection is live.
const noteMoments = (page) => page.evaluateOnNewDocument(() => {
  const moments = globalThis.moments = {}
  const look = () => {
    if (document.querySelector('.row:not([hidden])')?.textContent) moments.rows ??= performance.now()
    if (document.querySelector('#connection-text')?.textContent === 'Live') moments.live ??= performance.now()
    if (!moments.rows || !moments.live) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})

// Changes Pods until `end()` of the result is called. `end()` returns the number of changes per second.
function start(cluster) {
  let going = true, n = 0
  const began = performance.now()
  const done = (async () => {
    while (going) {
      await cluster.touch({ n: RATE / 10, seed: n++ })
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + n * 100 - performance.now())))
    }
    return Math.round((n * RATE * 100) / (performance.now() - began))
  })()
  return {
    end() {
      going = false
      return done
    },
  }
}
