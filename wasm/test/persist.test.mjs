// Tests collections that are saved in IndexedDB. Simulated pages share a database and Web Locks.
import 'fake-indexeddb/auto'
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb'
import { ADDED, BOOKMARK, DELETED, ACTIVITY, SAVED, LIVE, MODIFIED, RESET, SYNCED, UNSAVED, decode, encode } from '../records.js'
import { specOf } from '../spec.js'
import { added, fields, first, until } from './support.mjs'

/** Simulates exclusive Web Locks, which are granted in the order of the requests. */
class Locks {
  #held = new Map()

  /** Number of held and requested locks. */
  count = 0

  async request(name, { signal }, hold) {
    this.count++
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    const turn = (this.#held.get(name) ?? Promise.resolve())
    let given = false
    const done = turn.then(() => {
      given = true
      return signal.aborted ? undefined : hold()
    })
    this.#held.set(name, done)
    try {
      await Promise.race([done, aborted.catch((reason) => given ? done : Promise.reject(reason))])
    } finally {
      this.count--
    }
  }
}

const define = (name, property) => Object.defineProperty(globalThis, name, { ...property, configurable: true })

let locks, timeouts, pages = 0
beforeEach(() => {
  locks = new Locks()
  timeouts = []
  define('indexedDB', { value: new IDBFactory() })
  define('navigator', { value: { locks } })
})
AbortSignal.timeout = () => {
  const timeout = new AbortController()
  timeouts.push(timeout)
  return timeout.signal
}

const spec = (options) => specOf({ server: 'http://127.0.0.1:1', resource: 'pods', persist: true, ...options }).spec

/** Imports a new copy of persist.js, which behaves like another page. */
const newPage = async () => (await import(`../persist.js?page=${++pages}`)).Persistence

/**
 * Opens and loads a saved collection. Returns the received records in `told`.
 */
async function open(options, Persistence) {
  Persistence ??= await newPage()
  const saved = await Persistence.open(spec(options))
  const told = []
  const loaded = await saved.load((bytes) => decode(bytes, (kind, fields) => told.push([kind, ...fields])))
  const save = (...records) => saved.save(encode(records))
  return { saved, told, loaded: !!loaded, save, keys: () => told.filter(([kind]) => kind === SAVED).map(([, key]) => key) }
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/** Returns the contents of both object stores. */
async function saved() {
  const db = await done(indexedDB.open('listwatch'))
  const reading = db.transaction(['objects', 'versions'])
  const [objects, versions] = await Promise.all([done(reading.objectStore('objects').getAll()), done(reading.objectStore('versions').getAll())])
  db.close()
  return { keys: objects.map(({ key }) => key), versions: versions.map(({ version }) => version), text: JSON.stringify([objects, versions]) }
}
const savedKeys = (...keys) => until(async () => String((await saved()).keys) === String(keys))
const savedVersion = (version) => until(async () => (await saved()).versions.includes(version))

test('a page loads the objects that an earlier page saved', async () => {
  const early = await open()
  assert.deepEqual([early.loaded, early.told], [false, []])
  early.save(...first(added('a', 1), added('b', 1)))
  await savedKeys('default/a', 'default/b')
  early.save([MODIFIED, ...fields('a', 10)], [DELETED, 'default/b', '11', ''])
  await savedVersion('11')
  early.saved.close()
  const late = await open()
  assert.equal(late.loaded, true)
  assert.deepEqual(late.told.map(([kind]) => kind), [SAVED, ACTIVITY])
  assert.deepEqual(late.told[0], [SAVED, ...fields('a', 10)])
  assert.equal(late.told[1][2], '11')
})

test('a page that resumes a saved collection adds its changes to the saved objects', async () => {
  const early = await open()
  early.save(...first(added('a', 1)))
  await savedKeys('default/a')
  early.saved.close()
  const next = await open()
  next.save(added('b', 10))
  await savedKeys('default/a', 'default/b')
})

test('a transaction writes only the changes since the previous transaction', async (t) => {
  const { save } = await open()
  save(...first(added('a', 1), added('b', 1)))
  await savedVersion('9')
  const put = t.mock.method(IDBObjectStore.prototype, 'put')
  save([MODIFIED, ...fields('a', 10)])
  await savedVersion('10')
  assert.deepEqual(put.mock.calls.map(({ arguments: [{ key, version }] }) => key ?? version), ['default/a', '10'])
})

test('a page deletes objects saved from a first list that an earlier page left incomplete', async () => {
  const early = await open()
  early.save([RESET], [ADDED, 'default/stale', '', 'uid', '1', 'sum', '{}'])
  await savedKeys('default/stale')
  early.saved.close()
  const next = await open()
  assert.deepEqual([next.loaded, next.told], [false, []])
  next.save(...first(added('fresh', 2)))
  await savedKeys('default/fresh')
  next.saved.close()
  assert.deepEqual((await open()).keys(), ['default/fresh'])
})

test('an incomplete list that replaces damaged objects is not restored', async () => {
  const early = await open()
  early.save(...first(added('a', 1)))
  await savedKeys('default/a')
  early.saved.close()
  const db = await done(indexedDB.open('listwatch'))
  const objects = db.transaction('objects', 'readwrite').objectStore('objects')
  const [row] = await done(objects.getAll())
  await done(objects.put({ ...row, fields: ['damaged'] }))
  db.close()
  const next = await open()
  assert.equal(next.loaded, false)
  next.save([RESET], [ADDED, 'default/b', '', 'uid', '1', 'sum', '{}']) // the first page of a list
  await savedKeys('default/b')
  next.saved.close()
  assert.equal((await open()).loaded, false)
})

test('a first list replaces only the saved objects of its own collection', async () => {
  const pods = await open(), nodes = await open({ resource: 'nodes' })
  pods.save(...first(added('pod', 1)))
  await savedKeys('default/pod')
  nodes.save(...first(added('node', 1)))
  await until(async () => (await saved()).keys.length === 2)
  pods.saved.close()
  assert.deepEqual((await open()).keys(), ['default/pod'])
})

for (const [name, kind] of Object.entries({ BOOKMARK, LIVE, SYNCED })) {
  test(`${name} records advance the saved resourceVersion`, async () => {
    const { saved, save } = await open()
    save(...first(added('a', 1)))
    await savedVersion('9')
    save([kind, '12'])
    await savedVersion('12')
    saved.close()
    assert.equal((await open()).told.at(-1)[2], '12')
  })
}

for (const [name, record] of Object.entries({ ADDED: added('b', 12), MODIFIED: [MODIFIED, ...fields('a', 12)], DELETED: [DELETED, 'default/a', '12', ''] })) {
  test(`${name} records advance the saved resourceVersion`, async () => {
    const { save } = await open()
    save(...first(added('a', 1)))
    await savedVersion('9')
    save(record)
    await savedVersion('12')
  })
}

test('the time of the latest server data is saved', async (t) => {
  const { saved, save } = await open()
  t.mock.method(Date, 'now', () => 1700000000000)
  save(...first(added('a', 1)))
  await savedVersion('9')
  saved.close()
  assert.deepEqual((await open()).told.at(-1), [ACTIVITY, '1700000000000', '9'])
})

test('changes that arrive during a transaction are written by the next transaction', async () => {
  const { save } = await open()
  save(...first(added('a', 1)))
  save(added('b', 10))
  save(added('c', 11))
  await savedVersion('11')
  await savedKeys('default/a', 'default/b', 'default/c')
})

test('only one of two pages writes, and the other reports no error', async () => {
  const writer = await open(), other = await open()
  writer.save(...first(added('a', 1)))
  await savedKeys('default/a')
  other.save(...first(added('other', 1)))
  writer.save(added('b', 10)) // when this write is complete, IndexedDB has run all earlier transactions
  await savedKeys('default/a', 'default/b')
  timeouts[1].abort(new DOMException('late', 'TimeoutError'))
  await until(() => locks.count === 1)
  writer.saved.close()
  await until(() => locks.count === 0)
  other.save(added('later', 20))
  assert.deepEqual((await saved()).keys, ['default/a', 'default/b'])
  assert.deepEqual(other.told, [])
})

test('a page that is waiting for the lock starts writing when the other page closes', async () => {
  const writer = await open(), other = await open()
  other.save(...first(added('other', 1)))
  writer.saved.close()
  await savedKeys('default/other')
  other.saved.close()
  await until(() => locks.count === 0)
})

test('a page that closes while waiting for the lock never holds it', async () => {
  const writer = await open(), other = await open(), third = await open()
  other.saved.close()
  writer.saved.close()
  third.save(...first(added('third', 1)))
  await savedKeys('default/third')
})

test('each combination of user and collection has its own saved state and lock', async () => {
  for (const options of [{ persist: true }, { persist: 'ann' }, { persist: 'bob' }, { namespace: 'shop' }, { transport: 'http' }]) {
    const { loaded, save } = await open(options)
    assert.equal(loaded, false)
    save(...first(added('a', 1)))
    await until(async () => (await saved()).versions.length === timeouts.length)
  }
})

test('the name of a saved collection contains only a digest of the headers', async () => {
  const headers = { 'Impersonate-User': 'ann', 'X-Key': 'secret-value' }
  const ann = await open({ headers })
  ann.save(...first(added('anns', 1)))
  await savedKeys('default/anns')
  ann.saved.close()
  assert.doesNotMatch((await saved()).text, /ann"|secret-value/)
  assert.equal((await open({ headers: { ...headers, 'Impersonate-User': 'bob' } })).loaded, false)
  assert.equal((await open()).loaded, false)
  assert.equal((await open({ headers: { 'x-key': 'secret-value', 'impersonate-user': 'ann' } })).loaded, true)
})

const reasons = {
  'IndexedDB is not available': () => define('indexedDB', { value: undefined }),
  'storage is forbidden': () => define('indexedDB', { get() { throw new Error('storage is forbidden') } }),
  'saving requires a secure context (HTTPS)': () => define('navigator', { value: {} }),
  'another tab uses an older version of the database': () => {
    indexedDB.open = () => {
      const request = {}
      queueMicrotask(() => request.onblocked())
      return request
    }
  },
  'the database is damaged': () => {
    indexedDB.open = () => {
      const request = { error: new Error('the database is damaged') }
      queueMicrotask(() => request.onerror())
      return request
    }
  },
  'the rows cannot be read': (t) => t.mock.method(IDBObjectStore.prototype, 'getAll', () => { throw new Error('the rows cannot be read') }),
}
for (const [reason, arrange] of Object.entries(reasons)) {
  test(`a collection that is not saved reports the reason: ${reason}`, async (t) => {
    arrange(t)
    const { loaded, told, save } = await open()
    assert.deepEqual([loaded, told], [false, [[UNSAVED, `listwatch: the collection is not saved: ${reason}`]]])
    save(...first(added('a', 1)))
    await until(() => locks.count === 0)
  })
}

test('collections with headers are not saved if crypto.subtle is unavailable', async (t) => {
  t.mock.getter(globalThis, 'crypto', () => ({}))
  const { told } = await open({ headers: { 'X-Key': 'secret-value' } })
  assert.deepEqual(told, [[UNSAVED, 'listwatch: the collection is not saved: saving requires a secure context (HTTPS)']])
})

test('a full disk stops saving and is reported', async (t) => {
  const { told, save } = await open()
  t.mock.method(IDBObjectStore.prototype, 'put', () => { throw new DOMException('the quota is exceeded', 'QuotaExceededError') })
  save(...first(added('a', 1)))
  await until(() => told.length)
  assert.deepEqual(told, [[UNSAVED, 'listwatch: the collection is not saved: the quota is exceeded']])
  save(added('b', 10))
  await until(() => locks.count === 0)
})

test('a failed lock request stops saving and is reported', async () => {
  locks.request = () => Promise.reject(new Error('no locks'))
  const { told } = await open()
  await until(() => told.length)
  assert.deepEqual(told, [[UNSAVED, 'listwatch: the collection is not saved: no locks']])
})

test('when another tab deletes the database, the page closes it and stops saving', async () => {
  const Persistence = await newPage()
  const { told, save } = await open({}, Persistence)
  save(...first(added('a', 1)))
  await savedKeys('default/a')
  const deleting = indexedDB.deleteDatabase('listwatch')
  deleting.onblocked = () => assert.fail('the page must not block the deletion')
  await done(deleting)
  assert.deepEqual(told, [[UNSAVED, 'listwatch: the collection is not saved: another tab is deleting or upgrading the database']])
  save(added('b', 10))
  await until(() => locks.count === 0)

  const again = await open({}, Persistence) // the page creates a new database
  again.save(...first(added('c', 1)))
  await savedKeys('default/c')
})

test('a closed collection is not notified when another tab deletes the database', async () => {
  const { saved, told } = await open()
  saved.close()
  await done(indexedDB.deleteDatabase('listwatch'))
  assert.deepEqual(told, [])
})

test('deletePersisted() deletes all saved collections, even while a collection is open, and resolves without IndexedDB', async () => {
  const { deletePersisted } = await import('../index.js')
  const { save, told } = await open()
  save(...first(added('a', 1)))
  await savedKeys('default/a')
  await deletePersisted()
  assert.deepEqual(await indexedDB.databases(), [])
  assert.deepEqual(told.filter(([kind]) => kind === UNSAVED).length, 1)
  save(added('b', 10))
  assert.deepEqual(await indexedDB.databases(), [], 'an open collection must not save its objects again')
  define('indexedDB', { value: undefined })
  await deletePersisted()
})

test('deletePersisted() rejects if the browser does not delete the database', async () => {
  const { deletePersisted } = await import('../index.js')
  define('indexedDB', { value: { deleteDatabase() {
    const request = { error: new Error('the disk is broken') }
    queueMicrotask(() => request.onerror())
    return request
  } } })
  await assert.rejects(deletePersisted(), { code: 'storage', message: 'listwatch: the saved collections could not be deleted: the disk is broken' })
})
