// Takes the screenshot of the dashboard for the README, half in the light theme and half in the dark theme. Usage: make
// screenshots
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'
import { until } from './stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const picture = `${root}docs/images/dashboard.png`
const SIZE = { width: 1160, height: 560 }, MOST = 150_000 // maximum size of the screenshot in bytes

const demo = spawn('bin/demo', { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
let printed = ''
demo.stdout.on('data', (text) => { printed += text })
const browser = await launch('chrome')
try {
  await until('the URL', () => /http\S+ui\//.exec(printed))
  const page = await browser.newPage()
  await page.setViewport(SIZE)
  await page.goto(`${/http\S+ui\//.exec(printed)[0]}#/v1/pods?tab=changes`)
  await lively(page)
  const looks = {}
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    looks[scheme] = await page.screenshot({ encoding: 'base64' })
  }
  await joined(await browser.newPage(), looks)
} finally {
  await browser.close()
  demo.kill()
}

// Waits until the page shows typical activity, but at least 30 seconds. Some rows must have just changed, and the latest
// change of the selected row must be short.
async function lively(page) {
  const since = Date.now()
  await until('a suitable moment', async () => {
    const [marked, deleted, fields, changes, stale] = await page.evaluate((...selectors) => selectors.map((s) => document.querySelectorAll(s).length),
      '.row[data-mark]:not([hidden])', '.row.gone:not([hidden])', '.changes > li:first-child .field', '.changes > li', '#stale:not([hidden])')
    const selected = fields >= 1 && fields <= 6 && changes >= 2
    if (!selected) await page.evaluate(() => document.querySelectorAll('.row[data-mark="modified"]:not([hidden]) > div')[0]?.click())
    await page.evaluate(() => document.activeElement.blur())
    return selected && Date.now() - since > 30_000 && marked >= 2 && marked <= 9 && deleted <= 2 && !stale
  }, 200)
}

async function joined(page, { light, dark }) {
  await page.setViewport(SIZE)
  const image = (data, style) => `<img src="data:image/png;base64,${data}" style="position:absolute;inset:0;${style}">`
  await page.setContent(`<body style="margin:0">${image(light, '')}${image(dark, 'clip-path:polygon(62% 0, 100% 0, 100% 100%, 38% 100%)')}`)
  mkdirSync(`${root}docs/images`, { recursive: true })
  await page.screenshot({ path: picture })
  const { size } = statSync(picture)
  assert.ok(size <= MOST, `${picture} has ${size} bytes; the limit is ${MOST}`)
  console.log(`docs/images/dashboard.png: ${size} bytes`)
}
