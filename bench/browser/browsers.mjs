// Measures contenders in browsers. Each measurement runs in a page of a new profile.
import { launch } from '../../e2e/browser/launch.mjs'
import { mainThreads } from './cpu.mjs'
import { linear } from './linear.mjs'
import { orders, progress } from './print.mjs'

// Opens the page of the benchmark in a profile, calls `use` and closes the page. The argument `course` of `use` is a
// function that runs a measurement in the page.
async function onPage(profile, url, use) {
  const page = await profile.newPage()
  try {
    await page.goto(`${url}/`)
    await page.waitForFunction(() => globalThis.courses)
    return await use({ page, course: (name, contender) => page.evaluate((name, contender) => courses[name](contender), name, contender) })
  } finally {
    await page.close()
  }
}

async function inNewProfile(browser, use) {
  const profile = await browser.createBrowserContext()
  try {
    return await use(profile)
  } finally {
    await profile.close()
  }
}

const inNewPage = (browser, url, use) => inNewProfile(browser, (profile) => onPage(profile, url, use))

// Contenders with client-go run only in the first round, because they take minutes. They have no sorted list.
const runsOnce = (contender) => contender.startsWith('client-go')

/** Runs all measurements except memory and returns an object {contender: {figure: number}} for each round. */
export async function times(name, url, rounds, contenders) {
  const browser = await launch(name)
  await inNewPage(browser, url, ({ course }) => course('burst', 'plain')) // warms up the browser
  const all = []
  for (const [i, order] of orders(contenders, rounds).entries()) {
    const found = {}
    for (const contender of order.filter((contender) => !(runsOnce(contender) && i))) {
      progress(`${name}: round ${i + 1} of ${rounds}, ${contender}`)
      found[contender] = { ...await start(browser, url, contender), ...await inNewPage(browser, url, ({ course }) => course('burst', contender)) }
      if (!runsOnce(contender)) Object.assign(found[contender], await table(browser, name, url, contender))
    }
    all.push(found)
  }
  await browser.close()
  return all
}

// Loads 1,000 Pods in a new profile. Loads them again in a second page, for which the browser has cached the code.
const start = (browser, url, contender) => inNewProfile(browser, async (profile) => {
  const sync = ({ course }) => course('sync', contender)
  const first = await onPage(profile, url, sync)
  const { synced: cached } = await onPage(profile, url, sync)
  return { ...first, cached }
})

// Loads 10,000 Pods, receives 5,000 events and reads the sorted list after each batch of events.
const table = (browser, name, url, contender) => inNewPage(browser, url, async ({ page, course }) => {
  const chrome = name === 'chrome' // Firefox cannot measure memory
  const figures = await course('load', contender)
  if (chrome) figures.heap = await pageHeap(page)
  const pid = browser.process().pid, before = mainThreads(pid)
  Object.assign(figures, await course('table'))
  figures.cpu = mainThreads(pid) - before
  await course('touch')
  if (chrome) figures.parsedHeap = await pageHeap(page)
  return figures
})

// Returns the size of the JavaScript heap of the page's main thread in MB after a garbage collection. It does not
// include the contents of buffers and strings that were decoded from bytes, which the function `memory` counts.
async function pageHeap(page) {
  const client = await page.createCDPSession()
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  await client.detach()
  return usedSize / 1e6
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
    found[contender] = await inNewPage(browser, url, async ({ page, course }) => {
      await course('load', contender)
      const came = await memory(page)
      await course('touch')
      const read = await memory(page)
      return { came: came.all, read: read.all, shared: read.shared }
    })
  }
  await browser.close()
  return found
}
