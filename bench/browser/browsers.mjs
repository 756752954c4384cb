// Runs courses in browsers, each in a page of a fresh profile.
import { launch } from '../../e2e/browser/launch.mjs'
import { linear } from './linear.mjs'
import { orders, progress } from './print.mjs'

async function run(browser, url, contender, course, more = async () => {}) {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  try {
    await page.goto(`${url}/`)
    await page.waitForFunction(() => globalThis.courses)
    const result = await page.evaluate((course, contender) => courses[course](contender), course, contender)
    return await more(page) ?? result
  } finally {
    await context.close()
  }
}

// client-go takes minutes, and so much longer than all others that one round tells enough.
const skipped = (contender, round) => contender.startsWith('client-go') && round > 1

/** For each round {contender: {figure: ms}}. */
export async function times(name, url, rounds, contenders) {
  const browser = await launch(name)
  await run(browser, url, 'plain', 'burst') // the first of all is slow
  const all = []
  for (const [i, order] of orders(contenders, rounds).entries()) {
    const found = { empty: await run(browser, url, 'empty', 'paced') }
    for (const contender of order.filter((contender) => !skipped(contender, i + 1))) {
      found[contender] = {}
      for (const course of ['sync', 'paced', 'burst']) {
        progress(`${name}: round ${i + 1} of ${rounds}, ${contender}, ${course}`)
        Object.assign(found[contender], await run(browser, url, contender, course))
      }
    }
    all.push(found)
  }
  await browser.close()
  return all
}

// The page with its dedicated workers, as Chromium tells it after a collection of its own, a shared worker, and the WebAssembly
// of all of them.
async function memory(page) {
  const { bytes } = await page.evaluate(() => performance.measureUserAgentSpecificMemory())
  let sum = bytes / 1e6, shared = 0
  for (const client of [await page.createCDPSession(), ...page.workers().map((worker) => worker.client)]) sum += await programs(client)
  const sharing = (target) => target.type() === 'shared_worker' && target.browserContext() === page.browserContext()
  for (const target of page.browser().targets().filter(sharing)) {
    const client = await target.createCDPSession()
    await client.send('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await client.send('Runtime.getHeapUsage')
    shared += (usedSize + backingStorageSize) / 1e6 + await programs(client)
  }
  return { all: sum + shared, shared }
}

const programs = (client) => linear((method, params) => client.send(method, params))

/** For each contender the MB with 10,000 Pods, as they came and when each was read, and what of it is a shared worker's. */
export async function memories(name, url, contenders) {
  const browser = await launch(name, { args: ['--enable-blink-features=ForceEagerMeasureMemory'] }) // else it waits for 20 s
  const found = {}
  for (const contender of contenders) {
    progress(`${name}: memory, ${contender}`)
    found[contender] = await run(browser, url, contender, 'hold', async (page) => {
      const came = await memory(page)
      await page.evaluate(() => courses.touch())
      const read = await memory(page)
      return { came: came.all, read: read.all, shared: read.shared }
    })
  }
  await browser.close()
  return found
}
