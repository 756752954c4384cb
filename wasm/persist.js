// Saves collections in IndexedDB: the objects by collection and key, and the resourceVersion of each collection. One
// transaction writes changed objects and the resourceVersion, so a saved collection can always be resumed. If a saved
// object is newer than the resourceVersion, the resumed watch repeats its event.

/** @import { Spec } from './spec.js' */

import { ADDED, BOOKMARK, DELETED, ACTIVITY, SAVED, LIVE, MODIFIED, SYNCED, UNSAVED, decode, encode, encodeFields } from './records.js'
import { messageOf } from './messages.js'

const OBJECTS = 'objects', VERSIONS = 'versions'
const LOCK_TIMEOUT = 5000 // in ms; see #acquireLock

/** @typedef {{ collection: string, key: string, fields: string[] }} Row an object in the database */
/** @typedef {{ version: string, at: number }} Version a resourceVersion, and the time of the last data in ms since 1970 */

/** The saved state of one collection. */
export class Persistence {
  /** @type {IDBDatabase | undefined} undefined before the database is open, after a failure and after close */
  #db
  #name = ''
  #version = ''
  #lastEventAt = 0
  /** @type {Map<string, string[] | null>} the fields to write, by key; null deletes the object */
  #changed = new Map()
  #writing = false // whether a transaction is running
  #dirty = false // whether changes arrived after the last transaction began
  #owned = false // whether this page holds the lock
  #release = () => {}
  #stale = true // whether the database may hold rows that were not loaded, which the next write must delete first
  #failure = ''
  /** @type {((bytes: Uint8Array) => void) | undefined} */
  #emit

  /**
   * Opens the saved state of a collection. The promise never rejects. Without IndexedDB, the collection works, and `load`
   * reports why nothing is saved.
   * @param {Spec} spec
   */
  static async open(spec) {
    const saved = new Persistence()
    try {
      if (!globalThis.navigator?.locks || !globalThis.crypto?.subtle) throw new Error('saving requires a secure context (HTTPS)')
      // The name contains only the members that select objects or their user. A string in `persist` is the user's name.
      const { token, asks, persist, maxObjects, streamingLists, endpoint, ...origin } = spec
      const headers = await digest(endpoint.headers)
      saved.#name = JSON.stringify({ endpoint: { ...endpoint, headers }, ...origin, of: persist === true ? '' : persist })
      saved.#db = await database()
      users.add(saved)
      saved.#acquireLock()
    } catch (error) {
      saved.fail(error)
    }
    return saved
  }

  // Only the page with the lock writes. If two pages wrote, each would save a resourceVersion without the other's
  // objects. The timeout gives a closing page time to release the lock.
  #acquireLock() {
    /** @type {Promise<void>} */
    const held = new Promise((resolve) => { this.#release = resolve })
    const signal = AbortSignal.timeout(LOCK_TIMEOUT)
    navigator.locks.request(`listwatch ${this.#name}`, { signal }, () => {
      this.#owned = true
      this.#write()
      return held
    }).catch((error) => {
      if (signal.aborted) this.close() // another page has taken over saving
      else this.fail(error)
    })
  }

  /**
   * Passes the saved objects to `emit` as records. If saving fails later, `emit` receives the reason.
   *
   * If the collection can be resumed, `load` returns the encoded resourceVersion, and the namespace, name, uid,
   * resourceVersion and checksum of each object.
   * @param {(bytes: Uint8Array) => void} emit
   */
  async load(emit) {
    this.#emit = emit
    this.#report()
    if (!this.#db) return
    try {
      const reading = this.#db.transaction([OBJECTS, VERSIONS])
      /** @type {[Version | undefined, Row[]]} */
      const [saved, objects] = await Promise.all([
        resultOf(reading.objectStore(VERSIONS).get(this.#name)),
        resultOf(reading.objectStore(OBJECTS).getAll(this.#range())),
      ])
      // A damaged row must not stay in the collection forever. So the objects are used only if all of them are valid.
      if (!saved?.version || !objects.every(isValid)) return
      this.#version = saved.version
      // The batches are as small as in outbox.go, because a page must stay responsive while it applies them.
      for (let i = 0; i < objects.length; i += 50) emit(encode(objects.slice(i, i + 50).map(({ fields }) => [SAVED, ...fields])))
      emit(encode([[ACTIVITY, String(saved.at), saved.version]]))
      this.#stale = false
      return encodeFields([saved.version, ...objects.flatMap(({ fields: [key, , ...identity] }) => [...split(key), ...identity.slice(0, 3)])])
    } catch (error) {
      this.fail(error)
    }
  }

  /** Decodes the records in `bytes` and saves the changes that they contain. @param {Uint8Array} bytes */
  save(bytes) {
    if (!this.#db) return
    decode(bytes, (kind, fields) => {
      if (kind === ADDED || kind === MODIFIED || kind === DELETED) {
        this.#changed.set(fields[0], kind === DELETED ? null : fields)
        this.#version = fields[1] || this.#version
      } else if ([SYNCED, LIVE, BOOKMARK].includes(kind) && fields[0]) {
        this.#version = fields[0]
      } else return
      this.#dirty = true
      this.#lastEventAt = Date.now()
    })
    this.#write()
  }

  // Starts a transaction, unless one is running. Changes that arrive during a transaction are written by the next one.
  #write() {
    if (this.#writing || !this.#dirty || !this.#owned || !this.#db) return
    this.#dirty = false
    this.#writing = true
    this.#commit(this.#db).then(() => {
      this.#writing = false
      this.#write()
    }).catch((error) => this.fail(error))
  }

  /** @param {IDBDatabase} db */
  async #commit(db) {
    const writing = db.transaction([OBJECTS, VERSIONS], 'readwrite')
    const objects = writing.objectStore(OBJECTS)
    if (this.#stale) objects.delete(this.#range())
    this.#stale = false
    for (const [key, fields] of this.#changed) {
      if (fields) objects.put({ collection: this.#name, key, fields })
      else objects.delete([this.#name, key])
    }
    this.#changed.clear()
    writing.objectStore(VERSIONS).put({ version: this.#version, at: this.#lastEventAt }, this.#name)
    await new Promise((resolve, reject) => {
      writing.oncomplete = resolve
      writing.onabort = () => reject(writing.error)
    })
  }

  /** The keys of the collection's objects: an array is greater than any string, so [] is an upper bound for the key. */
  #range() { return IDBKeyRange.bound([this.#name], [this.#name, []]) }

  /** Stops saving and reports the reason. @param {unknown} error */
  fail(error) {
    this.close()
    this.#failure ||= `listwatch: the collection is not saved: ${messageOf(error)}`
    this.#report()
  }

  #report() {
    if (this.#failure) this.#emit?.(encode([[UNSAVED, this.#failure]]))
  }

  close() {
    users.delete(this)
    this.#db = undefined
    this.#changed.clear()
    this.#release()
  }
}

/** A row has at least a key, a version, a UID, a resourceVersion, a checksum and the JSON. @param {Row} row */
const isValid = ({ fields }) => Array.isArray(fields) && fields.length > 5 && fields.every((field) => typeof field === 'string')

/**
 * Returns a digest of the headers for the name of a saved collection. The name depends on the headers, because they can
 * select a user. The name must not contain the headers, because they may be secret.
 * @param {Record<string, string>} headers
 */
async function digest(headers) {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]).sort()
  if (!all.length) return headers
  return String(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(all)))))
}

/** Splits a key into the namespace and the name. @param {string} key */
const split = (key) => {
  const slash = key.indexOf('/')
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)]
}

/** @type {Set<Persistence>} the collections that use the database */
const users = new Set()
/** @type {Promise<IDBDatabase> | undefined} */
let opened

/** Opens the database once. After a failure, the next call tries again. */
async function database() {
  opened ??= open()
  try {
    return await opened
  } catch (error) {
    opened = undefined
    throw error
  }
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  if (!globalThis.indexedDB) throw new Error('IndexedDB is not available')
  const opening = indexedDB.open('listwatch', 1)
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(OBJECTS, { keyPath: ['collection', 'key'] })
    opening.result.createObjectStore(VERSIONS)
  }
  return new Promise((resolve, reject) => {
    opening.onerror = () => reject(opening.error)
    opening.onblocked = () => reject(new Error('another tab uses an older version of the database'))
    opening.onsuccess = () => {
      const db = opening.result
      const end = (/** @type {string} */ reason) => {
        db.close()
        opened = undefined
        for (const saved of users) saved.fail(reason)
      }
      db.onversionchange = () => end('another tab is deleting or upgrading the database')
      db.onclose = () => end('the browser closed the database')
      resolve(db)
    }
  })
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const resultOf = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
