// The package beside plain JavaScript, in Chromium and Firefox, in one run: make bench-browser. Times are medians.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { launch } from '../../e2e/browser/launch.mjs'

const rounds = Number(process.env.ROUNDS ?? 5)
const server = spawn(process.argv[2], [new URL('page', import.meta.url).pathname, new URL('../../wasm', import.meta.url).pathname],
  { stdio: ['ignore', 'pipe', 'inherit'] })
const url = String((await once(server.stdout, 'data'))[0]).trim()

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1]

/** Runs a course in a page of a fresh profile. */
async function run(browser, contender, course, more = async () => {}) {
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

// Chromium tells the memory of a page with its workers and their WebAssembly, after a collection of its own.
const memory = (page) => page.evaluate(async () => (await performance.measureUserAgentSpecificMemory()).bytes)

const progress = (text) => process.stderr.write(`\r\x1b[K${text}`)

async function times(browser, name) {
  const all = {}
  for (let round = 1; round <= rounds; round++) {
    for (const contender of ['plain', 'main', 'worker', 'shared']) {
      progress(`${name}: round ${round} of ${rounds}, ${contender}`)
      const found = { sync: await run(browser, contender, 'sync'), paced: await run(browser, contender, 'block') }
      Object.assign(found, await run(browser, contender, 'burst'))
      for (const [what, ms] of Object.entries(found)) ((all[contender] ??= {})[what] ??= []).push(ms)
    }
  }
  return Object.entries(all).map(([contender, { sync, paced, took, block, again, blockAgain }]) => ({
    contender,
    '1,000 synced, ms': median(sync),
    'longest block at 1,000/s, ms': median(paced),
    '10,000 changes, ms': median(took),
    'block, ms': median(block),
    '10,000 more, ms': median(again),
    'block again, ms': median(blockAgain),
  }))
}

async function memories(browser, name) {
  const table = []
  for (const contender of ['plain', 'main', 'worker', 'projected']) {
    progress(`${name}: memory, ${contender}`)
    table.push(await run(browser, contender, 'hold', async (page) => {
      const held = await memory(page)
      await page.evaluate(() => courses.touch())
      return { contender, '10,000 Pods, MB': held / 1e6, 'each of them read, MB': await memory(page) / 1e6 }
    }))
  }
  return table
}

function print(title, table) {
  console.log(`\n${title}`)
  const rounded = (value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)
  console.table(table.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)]))))
}

async function measure(name) {
  const browser = await launch(name)
  const found = await times(browser, name)
  const held = name === 'chrome' ? await memories(browser, name) : undefined // Firefox does not tell
  await browser.close()
  progress('')
  print(`${name}, medians of ${rounds}`, found)
  if (held) print(`${name}, the page with its workers and their WebAssembly`, held)
}

try {
  for (const name of (process.env.BROWSERS ?? 'chrome firefox').split(' ')) await measure(name)
} finally {
  server.kill()
}
