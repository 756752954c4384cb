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

async function measure(name) {
  const browser = await launch(name)
  const table = []
  const contenders = ['plain', 'main', 'worker', 'shared']
  const times = {}
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      process.stderr.write(`\r${name}: round ${round + 1} of ${rounds}, ${contender}      `)
      const of = times[contender] ??= { sync: [], block: [], took: [], burstBlock: [] }
      of.sync.push(await run(browser, contender, 'sync'))
      of.block.push(await run(browser, contender, 'block'))
      const { took, block } = await run(browser, contender, 'burst')
      of.took.push(took)
      of.burstBlock.push(block)
    }
  }
  for (const contender of contenders) {
    const of = times[contender]
    table.push({ contender, 'sync 1,000, ms': median(of.sync), 'block at 1,000/s, ms': median(of.block), 'burst of 10,000, ms': median(of.took), 'block in it, ms': median(of.burstBlock) })
  }
  if (name === 'chrome') {
    for (const contender of ['plain', 'main', 'worker', 'projected']) {
      process.stderr.write(`\r${name}: memory, ${contender}           `)
      const row = table.find((row) => row.contender === contender) ?? { contender }
      if (!table.includes(row)) table.push(row)
      Object.assign(row, await run(browser, contender, 'hold', async (page) => {
        const held = await memory(page)
        await page.evaluate(() => courses.touch())
        return { '10,000 held, MB': held / 1e6, 'and read, MB': await memory(page) / 1e6 }
      }))
    }
  }
  await browser.close()
  process.stderr.write('\r\x1b[K')
  console.log(name)
  console.table(table.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, typeof v === 'number' ? Math.round(v * 10) / 10 : v]))))
}

try {
  for (const name of (process.env.BROWSERS ?? 'chrome firefox').split(' ')) await measure(name)
} finally {
  server.kill()
}
