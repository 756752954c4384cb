// Measures contenders in browsers. Each measurement runs in a page of a new profile.
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

// Skips client-go after the first round, because it takes minutes.
const skipped = (contender, round) => contender.startsWith('client-go') && round > 1

/** Measures times and returns an object {contender: {figure: milliseconds}} for each round. */
export async function times(name, url, rounds, contenders) {
  const browser = await launch(name)
  await run(browser, url, 'plain', 'burst') // warms up the browser
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

// Returns the memory in MB of a page with its workers after a garbage collection, and the memory of the SharedWorker
// alone. WebAssembly memory is included.
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

/**
 * Returns the memory in MB of each contender with 10,000 Pods: after the list, after reading each Pod, and of the
 * SharedWorker alone.
 */
export async function memories(name, url, contenders) {
  const browser = await launch(name, { args: ['--enable-blink-features=ForceEagerMeasureMemory'] }) // without this flag, Chromium delays the measurement by 20 s
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
