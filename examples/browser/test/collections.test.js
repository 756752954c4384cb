import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Collections } from '../collections.js'

const link = { server: 'http://host', token: '' }
const version = { version: 'v1', resources: [{ resource: 'pods', verbs: ['list', 'watch'], scope: 'Namespaced', responseKind: { kind: 'Pod' } }] }
const collections = { kind: 'APIGroupDiscoveryList', items: [{ metadata: {}, versions: [version] }] }
const pods = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true, shortNames: [] }

// Returns a Collections object and a log of its callbacks. `answers` contains the successive responses for /api. The
// response for /apis is empty.
function collectionsWith(t, answers, storage = { getItem: () => null, setItem() {} }) {
  const told = []
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.mock.method(globalThis, 'fetch', async (url) => {
    const next = url.endsWith('/api') ? answers.shift() : () => Response.json({ kind: 'APIGroupDiscoveryList' })
    return next()
  })
  globalThis.localStorage = storage
  t.after(() => delete globalThis.localStorage)
  return { told, collections: new Collections(Object.fromEntries(['found', 'refused', 'waiting', 'storageFailed'].map((name) => [name, (value) => told.push([name, value])]))) }
}

const turn = () => new Promise(setImmediate)
const answer = (body, status = 200) => () => Response.json(body, { status })
const away = () => { throw new TypeError('Failed to fetch') }

test('requests are retried until the server responds, and each failure is reported', async (t) => {
  const { collections: it, told } = collectionsWith(t, [away, answer({ message: 'overloaded' }, 503), () => new Response('<html>'), answer(collections)])
  const asked = it.load(link)
  for (const delay of [1000, 2000, 4000]) {
    await turn()
    assert.equal(told.at(-1)[1].retryAt, Date.now() + delay)
    t.mock.timers.tick(delay)
  }
  await asked
  assert.deepEqual(told.slice(0, 3).map(([name, { cause }]) => [name, cause.code, cause.message]), [
    ['waiting', 'network', 'the server did not answer: Failed to fetch'],
    ['waiting', 'status', 'the server answered 503: overloaded'],
    ['waiting', 'malformed', 'the response is not a JSON object'],
  ])
  assert.deepEqual(told.slice(3), [['found', [pods]]])
})

test('a request with a rejected token is not retried', async (t) => {
  const { collections: it, told } = collectionsWith(t, [answer({ message: 'Unauthorized' }, 401)])
  await it.load(link)
  assert.deepEqual(told.map(([name, { status, message }]) => [name, status, message]), [['refused', 401, 'the server answered 401: Unauthorized']])
})

test('refresh() returns the error of a failed request', async (t) => {
  const { collections: it, told } = collectionsWith(t, [answer({ message: 'no' }, 403), answer(collections)])
  assert.equal((await it.refresh(link)).message, 'the server answered 403: no')
  assert.deepEqual(told, [])
  assert.equal(await it.refresh(link, true), undefined, 'a throttled refresh must be skipped right after another refresh')
  assert.equal(await it.refresh(link), undefined)
  assert.deepEqual(told, [['found', [pods]]])
})

test('a late response from the previous server is ignored', async (t) => {
  let answerLate
  const late = new Promise((resolve) => { answerLate = resolve })
  const nodes = { ...collections, items: [{ metadata: {}, versions: [{ ...version, resources: [{ ...version.resources[0], resource: 'nodes' }] }] }] }
  const { collections: it, told } = collectionsWith(t, [() => late, answer(collections)])
  const refreshed = it.refresh(link)
  await it.load({ ...link, server: 'http://other' })
  assert.deepEqual(told, [['found', [pods]]])
  answerLate(Response.json(nodes))
  assert.equal(await refreshed, undefined)
  assert.deepEqual(told, [['found', [pods]]])
})

test('the first version in the discovery response is used', async (t) => {
  const { collections: it, told } = collectionsWith(t, [answer({ ...collections, items: [{ metadata: {}, versions: [version, { ...version, version: 'v1beta1' }] }] })])
  await it.load(link)
  assert.deepEqual(told, [['found', [pods]]])
})

test('a storage failure is reported, and the collections are still shown', async (t) => {
  const forbidden = () => { throw new Error('forbidden') }
  const { collections: it, told } = collectionsWith(t, [answer(collections)], { getItem: forbidden, setItem: forbidden })
  await it.load(link)
  assert.deepEqual(told, [['storageFailed', 'forbidden'], ['storageFailed', 'forbidden'], ['found', [pods]]])
})

test('an unexpected error is not swallowed', async (t) => {
  const { collections: it } = collectionsWith(t, [answer({ ...collections, items: [null] })])
  await assert.rejects(it.load(link), TypeError)
})

const memory = (value) => ({ value, getItem(key) { assert.equal(key, 'listwatch-collections'); return this.value ?? null }, setItem(key, value) { assert.equal(key, 'listwatch-collections'); this.value = value } })

test('the collections are saved for the next visit to the same server', async (t) => {
  const storage = memory()
  const { collections: it, told } = collectionsWith(t, [answer(collections), away, away], storage)
  await it.load(link)
  assert.deepEqual(JSON.parse(storage.value), { server: 'http://host', resources: [pods] })
  told.length = 0
  it.load(link)
  assert.deepEqual(told, [['found', [pods]]], 'the saved collections must be shown before the server responds')
  await turn()
  assert.equal(told[1][0], 'waiting')
  told.length = 0
  it.load({ ...link, server: 'http://other' })
  assert.deepEqual(told, [])
})

test('collections from a server that requires a token are neither saved nor restored', async (t) => {
  const storage = memory(JSON.stringify({ server: 'http://host', resources: [pods] }))
  const { collections: it, told } = collectionsWith(t, [answer(collections)], storage), before = storage.value = storage.value.replace('pods', 'kept')
  await it.load({ ...link, token: 'secret' })
  assert.deepEqual([told, storage.value], [[['found', [pods]]], before])
})

test('invalid saved data is reported', async (t) => {
  const { collections: it, told } = collectionsWith(t, [answer(collections)], memory('{'))
  await it.load(link)
  assert.deepEqual(told.map(([name]) => name), ['storageFailed', 'found'])
})

test('the delay between retries doubles up to 30 seconds', async (t) => {
  const { collections: it, told } = collectionsWith(t, Array.from({ length: 8 }, () => away))
  it.load(link)
  const delays = []
  for (let i = 0; i < 7; i++) {
    await turn()
    const { phase, retryAt } = told.at(-1)[1]
    assert.equal(phase, 'waiting')
    delays.push(retryAt - Date.now())
    t.mock.timers.tick(delays.at(-1))
  }
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('a new request ends the retries of an earlier request', async (t) => {
  const { collections: it, told } = collectionsWith(t, [away, answer(collections)])
  const first = it.load(link)
  await turn()
  await it.load({ ...link, server: 'http://other' })
  const before = globalThis.fetch.mock.callCount()
  t.mock.timers.tick(1000)
  await first
  assert.equal(globalThis.fetch.mock.callCount(), before, 'requests to the previous server must not be retried')
  assert.deepEqual(told.map(([name]) => name), ['waiting', 'found'])
})

test('a response to an earlier request is ignored', async (t) => {
  let fail
  const { collections: it, told } = collectionsWith(t, [() => new Promise((resolve, reject) => { fail = reject }), answer(collections)])
  const first = it.load(link)
  await it.load({ ...link, server: 'http://other' })
  fail(new TypeError('late'))
  await first
  assert.deepEqual(told.map(([name]) => name), ['found'])
})

test('a 403 response is not retried', async (t) => {
  const { collections: it, told } = collectionsWith(t, [answer({ message: 'no' }, 403)])
  await it.load(link)
  assert.deepEqual(told.map(([name, { status }]) => [name, status]), [['refused', 403]])
})

test('a throttled refresh is skipped within five seconds of another refresh', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const { collections: it, told } = collectionsWith(t, [answer(collections), answer(collections)])
  for (now of [0, 4999, 5000]) await it.refresh(link, true)
  assert.equal(told.length, 2)
})
