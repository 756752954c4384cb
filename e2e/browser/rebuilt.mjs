// Tests that a page and the dashboard do not show the objects of a server as live after another server, without these
// objects, has started at its address. The server is examples/server.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from './connections.mjs'
import { front } from './front.mjs'
import { openPage } from './launch.mjs'
import { follow, show } from './page.mjs'
import { until } from './stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
// The longest time in ms for which objects of the old server may be shown as live. docs/guarantees.md promises that a stream
// reports a rebuilt server within this time.
const LIMIT = 10_000

// The new server must start at the address of the old one, so the port cannot be 0.
async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address()
  listener.close()
  await once(listener, 'close')
  return port
}

/** Starts examples/server with some ConfigMaps. Returns its URL, and functions that replace and stop it. */
async function example(...names) {
  execFileSync('go', ['build', '-o', 'bin/server', './examples/server'], { cwd: root })
  const url = `http://127.0.0.1:${await freePort()}`
  let process
  const start = async (names) => {
    process = spawn('bin/server', ['-addr', new URL(url).host, '-control', `127.0.0.1:${await freePort()}`], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(process.stdout, 'data')
    for (const name of names) {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })
      const { ok } = await fetch(`${url}/api/v1/namespaces/default/configmaps`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
      assert.ok(ok)
    }
  }
  const stop = async () => {
    process.kill('SIGKILL')
    await once(process, 'exit')
  }
  await start(names)
  return { url, stop, async rebuild(...names) { await stop(); await start(names) } }
}

/**
 * Checks that `look`, which returns whether the page shows its objects as live and their names, shows the new objects, and
 * does not show the old objects as live for too long.
 */
async function replaced(look, old, wanted) {
  const began = Date.now()
  await until('the objects of the new server', async () => {
    const { live, names } = await look()
    if (Date.now() - began > LIMIT) assert.ok(!live || !names.includes(old), `${old} is shown as live`)
    return live && names.join() === wanted
  })
}

export function rebuilt(scene) {
  const test = (words, f) => it(words, () => scene.fresh(async (profile) => {
    const server = await example('old-1', 'old-2'), at = await front(scene.stage.url, server.url)
    try {
      await f(profile, at, server)
    } finally {
      at.close()
      await server.stop()
    }
  }))

  test('a page replaces the objects of a restarted examples/server', async (profile, at, server) => {
    const page = await open(profile, at)
    await follow(page, 'all', { server: at.url })
    const look = async () => {
      const { state, objects } = await show(page, 'all')
      return { live: state.phase === 'live', names: Object.values(objects).map(({ metadata }) => metadata.name).sort() }
    }
    await until('the old objects', async () => (await look()).live && (await look()).names.length === 2)
    await server.rebuild('new')
    await replaced(look, 'old-1', 'new')
  })

  test('the dashboard replaces the objects of a restarted examples/server', async (profile, at, server) => {
    const page = await openPage(profile)
    await page.goto(`${at.url}/ui/#/v1/configmaps`)
    const look = () => page.evaluate(() => ({
      live: document.querySelector('#connection-text')?.textContent === 'Live',
      names: [...document.querySelectorAll('.row:not([hidden])')].map(({ dataset }) => dataset.key.replace(/.*\//, '')).sort(),
    }))
    await until('the old objects', async () => (await look()).live && (await look()).names.length === 2)
    await server.rebuild('new')
    await replaced(look, 'old-1', 'new')
  })
}
