// Builds and opens the page of wasm/README.md with each bundler in the README's table. LISTWATCH_NEXT=1 tests only the
// rows for Next.js, which take a minute.
import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { BUNDLERS, commandOf, filesOf, readPlugin, readRecipes, readTable, workshop } from './bundlers.mjs'
import { launch, openPage } from './launch.mjs'
import { serveApp } from './origin.mjs'
import { Stage } from './stage.mjs'

const next = !!process.env.LISTWATCH_NEXT
const table = readTable(), recipes = readRecipes()
const isNext = ({ name }) => name.startsWith('Next.js')
let shop, browsers, stage, cluster

before(async () => {
  shop = workshop(next ? 'next' : 'bundlers')
  browsers = await Promise.all(['chrome', 'firefox'].map((name) => launch(name)))
  stage = await Stage.start()
  cluster = await stage.cluster()
})
after(async () => {
  await Promise.all((browsers ?? []).map((browser) => browser.close()))
  stage?.stop()
  if (shop) rmSync(shop.folder, { recursive: true })
})

const put = (name) => cluster.put({ of: 'pods', object: { metadata: { name } } })

// Opens a URL in both browsers. Calls `f` with each page, its console messages, and a Pod name.
const inBrowsers = (url, f) => Promise.all(browsers.map(async (browser, i) => {
  const profile = await browser.createBrowserContext()
  const page = await openPage(profile), messages = []
  page.on('pageerror', (error) => messages.push(error.message))
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && !message.location().url?.endsWith('/favicon.ico') && messages.push(message.text()))
  await page.evaluateOnNewDocument(() => {
    globalThis.started = []
    for (const kind of ['Worker', 'SharedWorker']) {
      globalThis[kind] = class extends globalThis[kind] {
        constructor(...all) {
          super(...all)
          globalThis.started.push(kind)
        }
      }
    }
  })
  await page.goto(url)
  await f(page, messages, `pod-${i}`)
  await profile.close()
}))

// Waits until a condition holds in the page.
const shows = (page, holds, text, messages) => page.waitForFunction(holds, { polling: 20, timeout: 60_000 }, text)
  .catch(async (error) => assert.fail(`${error.message}: ${await page.evaluate(() => document.body.innerText)} ${messages}`))

// Asserts that the page follows the Pods with a SharedWorker.
const follows = (url) => inBrowsers(url, async (page, messages, name) => {
  const isLive = () => document.body.innerText.includes('Pods, live')
  await shows(page, isLive, '', messages)
  await put(name)
  await shows(page, (name) => document.body.innerText.includes(`default/${name}`), name, messages)
  await cluster.delete({ of: 'pods', space: 'default', name })
  await shows(page, (name) => !document.body.innerText.includes(`default/${name}`), name, messages)
  assert.deepEqual(await page.evaluate(() => globalThis.started), ['SharedWorker'])
  assert.deepEqual(messages, [])
})

// Asserts that the page reports an error that names the next step.
const advises = (url) => inBrowsers(url, async (page, messages) => {
  await shows(page, () => document.body.innerText.includes('Pods, stopped'), '', messages)
  assert.match(await page.evaluate(() => document.body.innerText), /could not be loaded: .*listwatch\.wasm answers.*bundler.*init\({ worker, wasm }\): https:.*\/wasm#bundlers/)
})

// Serves the output of a build while `f(url)` runs.
async function serving(folder, policy, f) {
  const server = await serveApp(folder, cluster.url, policy)
  try {
    await f(server.url)
  } finally {
    server.close()
  }
}

test('the table lists exactly the bundlers that have a test', { skip: next }, () => {
  assert.deepEqual(table.rows.filter((row) => !isNext(row)).map(({ name }) => name).sort(), Object.keys(BUNDLERS).sort())
})

for (const row of table.rows.filter((row) => isNext(row) === next)) {
  test(`the page from the README starts (${row.name})`, async () => {
    if (next) return startsInNext(row)
    const { tool, vite, build, output, inline } = BUNDLERS[row.name]
    const app = shop.app(row.name.replaceAll(' ', '-'), filesOf(row, table, recipes.vite))
    if (tool) assert.equal(app.version(tool), row.version, 'the table must name the tested version')
    if (vite) await app.serving(vite, cluster.url, follows)
    build(app, commandOf(row))
    const folder = join(app.folder, output)
    if (!existsSync(join(folder, 'index.html'))) cpSync(join(app.folder, 'index.html'), join(folder, 'index.html'))
    await serving(folder, inline ? '' : recipes.policy, follows)
  })
}

async function startsInNext({ name, version }) {
  const app = shop.app('.', {})
  assert.equal(app.version('next'), version)
  app.run('next/dist/bin/next', 'build', name.endsWith('webpack') ? '--webpack' : '--turbopack')
  await serving(join(app.folder, 'out'), '', follows) // Next.js adds inline scripts, which the policy forbids
}

test('the Vite configuration in docs/browser.md forwards WebSockets', { skip: next }, async () => {
  const row = table.rows.find(({ name }) => name === 'Vite 8')
  const page = table.page.replace("resource: 'pods' }", "resource: 'pods', transport: 'ws' }")
  assert.notEqual(page, table.page)
  const app = shop.app('websockets', filesOf(row, { ...table, page }, recipes.vite))
  await app.serving(BUNDLERS['Vite 8'].vite, cluster.url, follows)
})

test('the Vite configuration in docs/browser.md forwards the headers of a watch before its first event', { skip: next }, async () => {
  const row = table.rows.find(({ name }) => name === 'Vite 8'), quiet = await stage.cluster({ quiet: true })
  const app = shop.app('headers', filesOf(row, table, recipes.vite))
  await app.serving(BUNDLERS['Vite 8'].vite, quiet.url, async (url) => {
    const { status, body } = await fetch(`${url}/k8s/api/v1/pods?watch=1`, { signal: AbortSignal.timeout(30_000) })
    assert.equal(status, 200)
    await body.cancel()
  })
})

test('Rollup builds the page as one file', { skip: next }, async () => {
  const row = table.rows.find(({ name }) => name === 'Rollup 4'), { build } = BUNDLERS['Rollup 4']
  const files = filesOf(row, table, ''), config = files['rollup.config.js'].replace("output: { dir: 'dist' }", "output: { file: 'dist/main.js', inlineDynamicImports: true }")
  assert.notEqual(config, files['rollup.config.js'])
  const app = shop.app('rollup-one-file', { ...files, 'rollup.config.js': config }), folder = join(app.folder, 'dist')
  build(app)
  cpSync(join(app.folder, 'index.html'), join(folder, 'index.html'))
  await serving(folder, recipes.policy, follows)
})

test('the plugin in docs/react.md runs in a page that loads plugins in the same way as Headlamp', { skip: next }, async () => {
  const { code, copied } = readPlugin(), sources = new URL('headlamp/', import.meta.url)
  const files = readdirSync(sources).map((file) => [file, readFileSync(new URL(file, sources), 'utf8')])
  const app = shop.app('headlamp', { ...Object.fromEntries(files), 'plugin.ts': code })
  app.run('vite6/bin/vite.js', 'build', '--config', 'plugin.config.js', '--logLevel', 'error')
  for (const [name, file] of copied) cpSync(join(app.folder, file), join(app.folder, 'public/plugins/pods', name))
  await put('pod')
  await app.serving('vite6/bin/vite.js', cluster.url, (url) => inBrowsers(url, async (page, messages) => {
    await shows(page, () => document.body.innerText === '1 Pods', '', messages)
    assert.deepEqual(await page.evaluate(() => globalThis.started), ['SharedWorker'])
  }))
  await cluster.delete({ of: 'pods', space: 'default', name: 'pod' })
})

test('without the additional lines, the error in Vite\'s development server contains a hint for bundlers', { skip: next }, async () => {
  const row = { ...table.rows.find(({ name }) => name === 'Vite 5'), blocks: [] }
  const app = shop.app('without-lines', filesOf(row, table, recipes.vite))
  await app.serving(BUNDLERS['Vite 5'].vite, cluster.url, advises) // responds with an HTML page instead of the WASM module
})

test('without the additional lines, the error in a page that esbuild bundles contains a hint for bundlers', { skip: next }, async () => {
  const row = table.rows.find(({ name }) => name === 'esbuild')
  const app = shop.app('esbuild-without-lines', filesOf({ ...row, blocks: [] }, table, ''))
  app.run('.bin/esbuild', ...commandOf(row).slice(1))
  cpSync(join(app.folder, 'index.html'), join(app.folder, 'dist/index.html'))
  await serving(join(app.folder, 'dist'), recipes.policy, advises)
})
