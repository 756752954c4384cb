// Tests that tokens and headers do not leak into errors, other tabs or storage.
import { it } from 'node:test'
import { absent, formsOf, secret } from '../../wasm/test/canary.mjs'
import { openPage } from './launch.mjs'
import { equal, follow, show } from './page.mjs'
import { until } from './stage.mjs'

const FORMS = formsOf('token', 'header')

export function secrets(scene, modes) {
  for (const mode of modes) {
    it(`${mode}: tokens do not leak into errors, other tabs or storage`, () => scene.fresh(async (profile) => {
      const token = secret('token'), header = secret('header')
      const cluster = await scene.cluster({ tokens: { [token]: true, [header]: true } })
      await cluster.write({ n: 50, seed: 1 })
      const logged = []
      const open = async () => {
        const page = await openPage(profile)
        page.on('console', (message) => logged.push(message.text()))
        page.on('pageerror', (error) => logged.push(String(error)))
        await page.evaluateOnNewDocument(listen)
        await scene.load(page, { mode })
        return page
      }
      const pages = [await open(), await open()]
      const headers = { Authorization: `Bearer ${header}` }
      // Two collections use WebSockets, because a browser opens at most six HTTP/1.1 connections to a host.
      const options = {
        text: { token, transport: 'ws' }, asked: { ask: token, transport: 'ws', persist: 'jane' }, kept: { token, transport: 'http', persist: true },
        headers: { headers, transport: 'http', persist: true },
      }
      for (const page of pages) {
        for (const [name, more] of Object.entries(options)) {
          await follow(page, name, { server: cluster.url, ...more })
          await equal(cluster, page, name)
        }
      }
      const text = async () => {
        const all = await Promise.all(pages.map((page) => page.evaluate(dump)))
        for (const page of pages) for (const name in options) all.push(await show(page, name))
        return JSON.stringify([all, logged])
      }
      // Three of the four collections have the option `persist`.
      await until('all saved collections', async () => (await pages[0].evaluate(dump)).kept['listwatch versions']?.keys.length === 3)
      absent('the pages and their storage', await text(), FORMS)

      for (const one of [token, header]) await cluster.revoke({ token: one })
      await cluster.drop()
      for (const page of pages) {
        for (const name in options) await until(`the rejection of ${name}`, async () => (await show(page, name)).state.cause)
      }
      absent('the pages after a rejection', await text(), FORMS)
    }))
  }
}

// Runs in the page. Records all messages from workers and other pages.
function listen() {
  const heard = globalThis.heard = []
  const plain = (value) => ArrayBuffer.isView(value) ? new TextDecoder().decode(value) : Array.isArray(value) ? value.map(plain)
    : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)])) : String(value)
  for (const { prototype } of [MessagePort, Worker, BroadcastChannel]) {
    const { get, set } = Object.getOwnPropertyDescriptor(prototype, 'onmessage')
    Object.defineProperty(prototype, 'onmessage', {
      get,
      set(f) {
        set.call(this, f && ((event) => {
          heard.push(plain(event.data))
          return f.call(this, event)
        }))
      },
    })
  }
}

// Runs in the page. Returns the recorded messages and all stored data of the page's origin.
async function dump() {
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const kept = {}
  for (const { name } of await indexedDB.databases()) {
    const db = await done(indexedDB.open(name))
    for (const store of db.objectStoreNames) {
      const reading = db.transaction(store).objectStore(store)
      kept[`${name} ${store}`] = { store, keys: await done(reading.getAllKeys()), values: await done(reading.getAll()) }
    }
    db.close()
  }
  const { held, pending } = await navigator.locks.query()
  return {
    kept, heard: globalThis.heard, locks: [...held, ...pending].map(({ name }) => name), storage: { ...localStorage, ...sessionStorage }, caches: await caches.keys(),
    cookies: document.cookie, urls: [location.href, ...performance.getEntries().map(({ name }) => name)], state: history.state,
  }
}
