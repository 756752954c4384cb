// Installs the package as a tarball into a new Vite project, and tests the built project and the development server in
// Chromium.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { launch } from './launch.mjs'
import { build, project, vite, wasm, weigh } from './project.mjs'
import { Stage, until } from './stage.mjs'

let folder, browser, stage, cluster

before(async () => {
  folder = project()
  browser = await launch('chrome')
  stage = await Stage.start()
  cluster = await stage.cluster()
  await put('a', 'yes')
  await put('b', 'no')
})
after(async () => {
  await browser?.close()
  stage?.stop()
  if (folder) rmSync(folder, { recursive: true })
})

const put = (name, on) => cluster.put({ object: { metadata: { name }, data: { on } } })

// Calls `f` with the URL of a Vite server whose proxy lacks `ws: true`, and stops the server afterwards.
async function serving(args, f, { url: api } = cluster) {
  const server = spawn(process.execPath, [vite(folder), ...args, '--host', '127.0.0.1', '--port', '0'],
    { cwd: folder, env: { ...process.env, SERVER: api, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  server.stdout.on('data', (part) => { said += part })
  try {
    const [, url] = await until('Vite\'s server', () => said.match(/(http:\/\/127\.0\.0\.1:\d+)/))
    await f(url)
  } finally {
    server.kill()
  }
}

// Checks that a page shows the collection and its changes. Returns the URLs that the page has requested.
async function shows(url, mode) {
  const profile = await browser.createBrowserContext()
  const page = await profile.newPage()
  const complaints = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => message.type() === 'error' && !/favicon/.test(message.location().url) && complaints.push(`${message.text()} ${message.location().url}`))
  await page.goto(`${url}/?mode=${mode}`)
  const shown = (text) => page.waitForFunction((text) => document.getElementById('maps')?.textContent === text, { polling: 20 }, text)
    .catch(async (error) => assert.fail(`${error.message}: ${await page.content()} ${complaints}`))
  await shown('live a of 2')
  await put('b', 'yes')
  await shown('live a b of 2')
  await put('b', 'no')
  await shown('live a of 2')
  assert.equal(await remount(page), 'live a of 2')
  const workers = (await browser.targets()).filter((target) => target.browserContext() === profile).map((target) => target.type())
  assert.equal(workers.includes('shared_worker'), mode === '' || mode === 'shared', `${workers}`)
  assert.equal(page.workers().length, mode === 'worker' ? 1 : 0)
  assert.deepEqual(complaints, [])
  const requested = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  await profile.close()
  return requested
}

// Unmounts the component, mounts it again, and returns the text of its first render.
async function remount(page) {
  await page.evaluate(() => {
    globalThis.renders.length = 0
    globalThis.show(false)
  })
  await page.waitForFunction(() => !document.getElementById('maps'), { polling: 20 })
  await page.evaluate(() => globalThis.show(true))
  await page.waitForFunction(() => globalThis.renders.length, { polling: 20 })
  return page.evaluate(() => globalThis.renders[0])
}

test('the package builds and runs in every mode under a content security policy', async () => {
  build(folder)
  const built = readdirSync(join(folder, 'dist/assets'))
  assert.equal(built.filter((file) => file.endsWith('.wasm')).length, 1, `${built}`)
  const [program] = built.filter((file) => file.endsWith('.wasm'))
  assert.deepEqual(readFileSync(join(folder, 'dist/assets', program)), readFileSync(join(wasm, 'listwatch.wasm')))
  await serving(['preview'], async (url) => {
    for (const mode of ['', 'worker', 'main']) {
      const requested = await shows(url, mode)
      assert.equal(requested.some(isLocal), mode === 'main', `only mode "main" must request its code; the page requested ${requested}`)
    }
  })
})

const isLocal = (url) => /\/local-[^/]*\.js$/.test(url)

test('init rejects if the code for mode "main" cannot be loaded', async () => {
  await serving(['preview'], async (url) => {
    const page = await browser.newPage()
    await page.setRequestInterception(true)
    page.on('request', (request) => (isLocal(request.url()) ? request.abort() : request.continue()))
    await page.goto(`${url}/?mode=main`)
    const message = await page.evaluate(() => globalThis.started.then(() => 'it loaded', ({ name, message }) => `${name}: ${message}`))
    assert.match(message, /^ListWatchError: listwatch: the code for mode "main" could not be loaded: .*; reload the page/)
    await page.close()
  })
})

// Maximum sizes in bytes of the scripts, minified and gzipped. The page's scripts include the React hooks.
const BUDGET = { page: 11_000, worker: 10_200, local: 8_000 }

test('the JavaScript around the WASM module stays within its budget', (t) => {
  const sizes = weigh(folder)
  for (const [name, limit] of Object.entries(BUDGET)) {
    const size = sizes[name]
    t.diagnostic(`${name}: ${size} bytes`)
    assert.ok(size > 1000 && size <= limit, `${name} has ${size} bytes; the limit is ${limit} bytes: remove code, or raise the limit and explain why in the README`)
  }
})

test('without ws: true, the console names the remedy once, and no watch stays live after the server has died', async () => {
  const server = await stage.cluster()
  await serving([], async (url) => {
    const page = await browser.newPage(), warnings = []
    page.on('console', (message) => /take turns/.test(message.text()) && warnings.push(message.text()))
    await page.goto(`${url}/?watches=10`)
    const all = (pattern) => page.$$eval('li', (items, source) => items.length === 10 && items.every(({ textContent }) => new RegExp(source).test(textContent)), pattern)
    await until('watches that take turns', () => all('^live turns'))
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], /ws: true/)
    await server.stop()
    await until('stale watches', () => all('^stale (?!turns)'), 30)
    await page.close()
  }, server)
})

test('the package runs in the development server', async () => {
  await serving([], (url) => shows(url, ''))
})
