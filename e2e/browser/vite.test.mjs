// The package as a tarball, installed into a fresh Vite project, which is built and served, and looked at in Chromium.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { launch } from './launch.mjs'
import { Stage, until } from './stage.mjs'

const wasm = fileURLToPath(new URL('../../wasm', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'listwatch-vite-'))
const npm = (...args) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const vite = [join(folder, 'node_modules/vite/bin/vite.js')]
let browser, stage, cluster

before(async () => {
  cpSync(fileURLToPath(new URL('vite', import.meta.url)), folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  npm('ci')
  const [{ filename }] = JSON.parse(npm('pack', wasm, '--ignore-scripts', '--json')) // the program is there already
  npm('install', '--no-save', filename)
  browser = await launch('chrome')
  stage = await Stage.start()
  cluster = await stage.cluster()
  await put('a', 'yes')
  await put('b', 'no')
})
after(async () => {
  await browser?.close()
  stage?.stop()
  rmSync(folder, { recursive: true })
})

const put = (name, on) => cluster.put({ object: { metadata: { name }, data: { on } } })

// Runs one of Vite's servers while `f` looks at it.
async function serving(args, f) {
  const server = spawn(process.execPath, [...vite, ...args, '--host', '127.0.0.1', '--port', '0'],
    { cwd: folder, env: { ...process.env, SERVER: cluster.url, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  server.stdout.on('data', (part) => { said += part })
  try {
    const [, url] = await until('Vite serves', () => said.match(/(http:\/\/127\.0\.0\.1:\d+)/))
    await f(url)
  } finally {
    server.kill()
  }
}

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
  const workers = (await browser.targets()).filter((target) => target.browserContext() === profile).map((target) => target.type())
  assert.equal(workers.includes('shared_worker'), mode === '' || mode === 'shared', `${workers}`)
  assert.equal(page.workers().length, mode === 'worker' ? 1 : 0)
  assert.deepEqual(complaints, [])
  await profile.close()
}

test('it is built, and runs in every mode under a content security policy', async () => {
  execFileSync(process.execPath, [...vite, 'build', '--logLevel', 'warn'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  const built = readdirSync(join(folder, 'dist/assets'))
  assert.equal(built.filter((file) => file.endsWith('.wasm')).length, 1, `${built}`)
  const [program] = built.filter((file) => file.endsWith('.wasm'))
  assert.deepEqual(readFileSync(join(folder, 'dist/assets', program)), readFileSync(join(wasm, 'listwatch.wasm')))
  await serving(['preview'], async (url) => {
    for (const mode of ['', 'worker', 'main']) await shows(url, mode)
  })
})

// In bytes, minified and gzipped: what a page loads beside the program, and its worker.
const BUDGET = 12_000

test('the JavaScript around the program is small', (t) => {
  execFileSync(process.execPath, [...vite, 'build', '--config', 'size.config.js', '--logLevel', 'warn'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  const assets = join(folder, 'weighed/assets')
  for (const file of readdirSync(assets).filter((file) => file.endsWith('.js'))) {
    const size = gzipSync(readFileSync(join(assets, file)), { level: 9 }).length
    t.diagnostic(`${file.replace(/-.*/, '')}: ${size} bytes`)
    assert.ok(size > 1000 && size <= BUDGET, `${file} has ${size} bytes: more than ${BUDGET}; find what came in, or say in the README why it is worth it`)
  }
})

test('it runs in the development server', async () => {
  await serving([], (url) => shows(url, ''))
})
