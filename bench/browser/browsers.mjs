// Measures contenders in Chromium and Firefox. Each measurement runs in a new browser profile.
import { launch } from '../../e2e/browser/launch.mjs'
import { idle, mainThreads } from './cpu.mjs'
import { linear } from './linear.mjs'
import { orders, progress } from './print.mjs'

// Calls `use` with the benchmark page in a profile, and closes the page afterwards. `use` receives a function `course`
// that runs a measurement from page/courses.js in the page.
async function onPage(profile, url, use) {
  const page = await profile.newPage()
  try {
    await page.goto(`${url}/`)
    await page.waitForFunction(() => globalThis.courses)
    await idle(page.browser().process().pid)
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

/** Runs all measurements except memory. Returns an object {contender: {figure: number}} for each round. */
export async function times(name, url, rounds, contenders) {
  const browser = await launch(name)
  await inNewPage(browser, url, ({ course }) => course('burst', 'plain')) // warms up the browser
  const all = []
  for (const [i, order] of orders(contenders, rounds).entries()) {
    const found = {}
    for (const contender of order) {
      progress(`${name}: round ${i + 1} of ${rounds}, ${contender}`)
      found[contender] = {
        ...await start(browser, url, contender),
        ...await inNewPage(browser, url, ({ course }) => course('burst', contender)),
        ...await table(browser, name, url, contender),
      }
    }
    found.empty = await start(browser, url, 'empty', 'empty')
    all.push(found)
  }
  await browser.close()
  return all
}

// Loads 1,000 Pods in a new profile. Then loads them in a second page, for which the browser has cached the code. The course
// "empty" instead starts an empty Go program.
const start = (browser, url, contender, name = 'sync') => inNewProfile(browser, async (profile) => {
  const sync = ({ course }) => course(name, contender)
  const first = await onPage(profile, url, sync)
  const { synced: cached } = await onPage(profile, url, sync)
  return { ...first, cached }
})

// Measures loading 10,000 Pods, and then 5,000 events. The page reads the sorted list after each batch of events. All
// measurements run in one page, because the later ones need its Pods.
const table = (browser, name, url, contender) => inNewPage(browser, url, async ({ page, course }) => {
  const chrome = name === 'chrome' // Firefox cannot measure the heap
  const figures = await course('load', contender)
  if (chrome) figures.heap = await pageHeap(page)
  const pid = browser.process().pid, before = mainThreads(pid)
  Object.assign(figures, await course('table'))
  figures.cpu = mainThreads(pid) - before
  await course('touch')
  if (chrome) figures.parsedHeap = await pageHeap(page)
  return figures
})

// Returns the size in MB of the JavaScript heap of the page's main thread after a garbage collection. Buffers and
// strings decoded from bytes are outside the heap; `memory` counts them.
async function pageHeap(page) {
  const client = await page.createCDPSession()
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  await client.detach()
  return usedSize / 1e6
}

// Returns the memory in MB of a page with its workers, and of the SharedWorker alone, after a garbage collection. Both
// include WebAssembly memory.
async function memory(page) {
  const { bytes } = await page.evaluate(() => performance.measureUserAgentSpecificMemory())
  let sum = bytes / 1e6, shared = 0
  for (const client of [await page.createCDPSession(), ...page.workers().map((worker) => worker.client)]) sum += await wasmMemory(client)
  // measureUserAgentSpecificMemory() leaves out SharedWorkers, so each one is measured separately.
  const sharing = (target) => target.type() === 'shared_worker' && target.browserContext() === page.browserContext()
  for (const target of page.browser().targets().filter(sharing)) {
    const client = await target.createCDPSession()
    await client.send('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await client.send('Runtime.getHeapUsage')
    shared += (usedSize + backingStorageSize) / 1e6 + await wasmMemory(client)
  }
  return { all: sum + shared, shared }
}

const wasmMemory = (client) => linear((method, params) => client.send(method, params))

/**
 * Returns how many MB of memory each contender uses with 10,000 Pods: after the list, and after the page has read all
 * Pods. Also returns the memory of the SharedWorker alone.
 */
export async function memories(name, url, contenders) {
  const browser = await launch(name, { args: ['--enable-blink-features=ForceEagerMeasureMemory'] }) // otherwise, Chromium delays the measurement by 20 s
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
