// Measures the memory and the JSON parsing of a page, and how long its main thread is blocked.

/**
 * Returns the memory in MB of a page and of its shared worker after a garbage collection. Works only in Chromium.
 */
export async function memory(page) {
  const worker = (await page.browser().targets()).find((target) => target.type() === 'shared_worker' && target.browserContext() === page.browserContext())
  const all = {}
  for (const [name, target] of [['page', page], ['worker', worker]]) {
    const session = await target.createCDPSession()
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage')
    all[name] = (usedSize + backingStorageSize) / 1e6
    await session.detach()
  }
  return all
}

/**
 * Makes the page count its JSON.parse calls and the parsed characters in its global variable `parsed`. Call
 * countParsing() before the page loads.
 */
export const countParsing = (page) => page.evaluateOnNewDocument(() => {
  const parse = JSON.parse, parsed = globalThis.parsed = { texts: 0, bytes: 0 }
  JSON.parse = (text, ...more) => {
    parsed.texts++
    parsed.bytes += text.length
    return parse(text, ...more)
  }
})

/**
 * Scrolls the table for `ms` milliseconds. Returns frame times and the longest block of the main thread in ms.
 */
export const scroll = (page, ms) => page.$eval('#grid', async (grid, ms) => {
  const frame = () => new Promise(requestAnimationFrame)
  const times = [], began = performance.now()
  // The page sends messages to itself. A blocked main thread delays them. Without the pause between them, they would keep a
  // CPU busy that the worker needs.
  const { port1, port2 } = new MessageChannel()
  let sent = performance.now(), longest = 0, over = false
  port1.onmessage = () => {
    const now = performance.now()
    longest = Math.max(longest, now - sent)
    if (over) return
    setTimeout(() => {
      sent = performance.now()
      port2.postMessage(0)
    }, 1)
  }
  port2.postMessage(0)
  let last = await frame()
  while (last - began < ms) {
    const turn = ((last - began) % 4000) / 2000 // 0 to 1 while scrolling down, 1 to 2 while scrolling up; two seconds each
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * (turn < 1 ? turn : 2 - turn)
    const now = await frame()
    times.push(now - last)
    last = now
  }
  over = true
  port1.close()
  times.sort((a, b) => a - b)
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))]
  return { frames: times.length, median: at(0.5), most: at(0.95), longest: at(1), block: longest }
}, ms)
