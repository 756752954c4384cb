// Tests saved collections, the cleanup of collections, and the loading of the WASM module.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { equal, follow, show } from './page.mjs'
import { until } from './stage.mjs'

export function states(scene, modes) {
  for (const mode of modes) {
    it(`${mode}: a reloaded page shows the saved state immediately and resumes without a relist`, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      await cluster.write({ n: 200, seed: 1 })
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url, persist: true })
      const { has } = await equal(cluster, page)
      await until('the saved state', async () => (await kept(page)).some(({ version }) => version === has.version))

      await cluster.hold()
      await scene.load(page, { mode })
      await cluster.write({ n: 50, seed: 2 })
      await follow(page, 'all', { server: cluster.url, persist: true })
      const changes = []
      await until('the saved objects', async () => {
        const shown = await show(page, 'all')
        changes.push(...shown.changes)
        assert.match(shown.state.phase, /^(waiting|stale)$/)
        return shown.state.phase === 'stale' && isDeepStrictEqual(shown.objects, has.objects)
      })
      assert.ok(changes.every(({ type, initial, stale }) => type === 'added' && initial && stale))

      await cluster.release()
      assert.equal((await equal(cluster, page)).has.lists, 1)
    }))

    it(`${mode}: the page keeps working after another tab deletes the saved collections`, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      await cluster.write({ n: 20, seed: 1 })
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url, persist: true })
      const { shown, has } = await equal(cluster, page)
      assert.equal(shown.state.persistError, undefined)
      await until('the saved collection', async () => (await kept(page)).some(({ version }) => version === has.version))
      assert.equal(await page.evaluate(deleteDatabase), 'deleted')
      const { persistError } = await until('the error in the page\'s state', async () => {
        const { state } = await show(page, 'all')
        return state.persistError && state
      })
      assert.equal(persistError.code, 'storage')
      await cluster.write({ n: 20, seed: 2 })
      await equal(cluster, page)
    }))

    it(`${mode}: deletePersisted() deletes the saved collections, and an open collection continues unsaved`, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      await cluster.write({ n: 20, seed: 1 })
      const page = await scene.open(profile, { mode })
      await follow(page, 'all', { server: cluster.url, persist: true })
      const { has } = await equal(cluster, page)
      await until('the saved collection', async () => (await kept(page)).some(({ version }) => version === has.version))
      await page.evaluate(() => globalThis.stage.deletePersisted())
      assert.deepEqual(await page.evaluate(() => indexedDB.databases().then((all) => all.map(({ name }) => name))), [])
      await cluster.write({ n: 20, seed: 2 })
      await equal(cluster, page)
      assert.deepEqual(await page.evaluate(() => indexedDB.databases().then((all) => all.map(({ name }) => name))), [])
    }))

    it(`${mode}: the package adds no globals, and a closed collection leaves no open watch`, () => scene.fresh(async (profile) => {
      const cluster = await scene.cluster()
      await cluster.write({ n: 20, seed: 1 })
      const page = await scene.open(profile, { mode })
      for (const end of ['close', 'abort']) {
        await follow(page, end, { server: cluster.url })
        await equal(cluster, page, end)
        await page.evaluate((name) => globalThis.stage[name](name), end)
        assert.equal((await show(page, end)).state.phase, 'stopped')
        await until('no open watch', async () => (await cluster.look()).open === 0)
      }
      const added = await page.evaluate(() => globalThis.stage.added())
      assert.deepEqual(added.filter((name) => !/puppeteer|ariaQuery/.test(name)), [])
    }))
  }

  // Chromium reads only the first part of a response that is compressed in several parts, and reports no error.
  it('the page requests no streaming list, because a server may compress it in parts', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster({ zip: true })
    await cluster.write({ n: 50, seed: 1 })
    const page = await scene.open(profile, { mode: 'main' })
    await follow(page, 'all', { server: cluster.url, transport: 'http' })
    assert.equal((await equal(cluster, page)).has.lists, 1)
    await cluster.write({ n: 50, seed: 2 })
    assert.equal((await equal(cluster, page)).has.lists, 1)
  }))

  it('the page loads a WASM module that has the wrong content type', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    const page = await scene.open(profile, { mode: 'main' }, '/untyped')
    await follow(page, 'all', { server: cluster.url })
    await equal(cluster, page)
  }))
}

/** Returns the rows of the object store `versions`. */
const kept = (page) => page.evaluate(() => new Promise((resolve, reject) => {
  const opening = indexedDB.open('listwatch')
  opening.onerror = () => reject(opening.error)
  opening.onsuccess = () => {
    const db = opening.result
    const reading = db.transaction('versions').objectStore('versions').getAll()
    reading.onsuccess = () => {
      db.close()
      resolve(reading.result)
    }
  }
}))

/** Deletes the database of a page. Returns "deleted", "blocked" or an error message. */
const deleteDatabase = () => new Promise((resolve) => {
  const deleting = indexedDB.deleteDatabase('listwatch')
  deleting.onsuccess = () => resolve('deleted')
  deleting.onblocked = () => resolve('blocked')
  deleting.onerror = () => resolve(String(deleting.error))
})
