// What is kept of a collection in IndexedDB: each object under its collection and key, and the version up to which they
// have what happened. Objects are written when they change, all with the version in one transaction, so that whatever is
// there can be gone on from: a version that is older than an object costs an event that comes twice. With the version goes
// when it was heard of, as whoever is shown a state wants to know how old it is.

import { ADDED, BOOKMARK, DELETED, HEARD, KEPT, LIVE, MODIFIED, SYNCED, decode, encode, encodeFields } from './records.js'
import { isText } from './spec.js'

const OBJECTS = 'objects', VERSIONS = 'versions'
const PATIENCE = 5000 // ms

export class Kept {
  #db
  #name
  #version = ''
  #heardAt = 0 // when, in milliseconds since 1970
  #rows = [] // of what was loaded, for the program
  #changed = new Map() // what is to be written: by key, null for what is gone
  #writing = false
  #dirty = false
  #owned = false // this is the one that writes
  #release
  #stale = true // what is there belongs to no version: a first list that was not completed

  /** Opens what is kept for a collection; without IndexedDB, or where it is forbidden, nothing ever is. */
  static async open(spec) {
    const kept = new Kept()
    const { token, asks, persist, maxObjects, streamingLists, endpoint, ...origin } = spec
    const headers = await digest(endpoint.headers)
    if (!headers) return kept
    kept.#name = JSON.stringify({ endpoint: { ...endpoint, headers }, ...origin, of: persist === true ? '' : persist })
    kept.#db = await database().catch(() => undefined)
    kept.#own()
    return kept
  }

  // Two pages that wrote the same would each write the version of what only the other has written. So one writes, and the
  // others go without; a page that is just being left is waited for.
  #own() {
    const { locks } = globalThis.navigator ?? {}
    const holding = new Promise((resolve) => { this.#release = resolve })
    const given = () => {
      this.#owned = true
      this.#write()
      return holding
    }
    locks?.request(`listwatch ${this.#name}`, { signal: AbortSignal.timeout(PATIENCE) }, given).catch(() => this.close())
    if (!locks) this.close()
  }

  /** Gives the objects as records to `tell`, and returns whether there is a state to go on from. */
  async load(tell) {
    try {
      const reading = this.#db.transaction([OBJECTS, VERSIONS])
      const [heard, objects] = await Promise.all([
        done(reading.objectStore(VERSIONS).get(this.#name)),
        done(reading.objectStore(OBJECTS).getAll(this.#range())),
      ])
      // A part of it, told and then given up, would stay for ever: all of it is right, or a list is asked for.
      if (!heard?.version || !objects.every(({ fields }) => fields.length > 5 && fields.every(isText))) return false
      this.#version = heard.version
      for (let i = 0; i < objects.length; i += 50) tell(encode(objects.slice(i, i + 50).map(({ fields }) => [KEPT, ...fields])))
      tell(encode([[HEARD, String(heard.at), heard.version]]))
      this.#stale = false
      this.#rows = objects.map(({ fields: [key, , uid, objectVersion, sum] }) => [...split(key), uid, objectVersion, sum])
      return true
    } catch {
      return false // what cannot be read, or is not kept at all, costs a list
    }
  }

  /** What was loaded, as the program wants it: the version, and of each object namespace, name, uid, version and sum. */
  rows() {
    const rows = encodeFields([this.#version, ...this.#rows.flat()])
    this.#rows = []
    return rows
  }

  /** Takes note of records, and writes them when what was written before is. */
  note(bytes) {
    if (!this.#db) return
    decode(bytes, (kind, fields) => {
      if (kind === ADDED || kind === MODIFIED || kind === DELETED) {
        this.#changed.set(fields[0], kind === DELETED ? null : fields)
        this.#version = fields[1] || this.#version
      } else if ([SYNCED, LIVE, BOOKMARK].includes(kind) && fields[0]) {
        this.#version = fields[0]
      } else return
      this.#dirty = true
      this.#heardAt = Date.now()
    })
    this.#write()
  }

  async #write() {
    if (this.#writing || !this.#dirty || !this.#owned || !this.#db) return
    this.#writing = true
    while (this.#dirty && this.#db) {
      const changed = this.#changed
      this.#changed = new Map()
      this.#dirty = false
      try {
        await this.#commit(changed)
      } catch {
        this.close() // the disk is full, or the user forbade it: the next page begins with what was written last
      }
    }
    this.#writing = false
  }

  #commit(changed) {
    const writing = this.#db.transaction([OBJECTS, VERSIONS], 'readwrite')
    const objects = writing.objectStore(OBJECTS)
    if (this.#stale) objects.delete(this.#range())
    this.#stale = false
    for (const [key, fields] of changed) {
      if (fields) objects.put({ collection: this.#name, key, fields })
      else objects.delete([this.#name, key])
    }
    if (this.#version) writing.objectStore(VERSIONS).put({ version: this.#version, at: this.#heardAt }, this.#name)
    return new Promise((resolve, reject) => {
      writing.oncomplete = resolve
      writing.onabort = () => reject(writing.error)
    })
  }

  #range() {
    return IDBKeyRange.bound([this.#name], [this.#name, []])
  }

  close() {
    this.#db = undefined
    this.#changed.clear()
    this.#release?.()
  }
}

// What is sent with requests tells states apart, and may be secret: a name has its digest. Where there is none to be had, as
// on pages that came over plain HTTP, nothing is kept.
async function digest(headers) {
  const all = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]).sort()
  if (!all.length) return headers
  const bytes = await globalThis.crypto?.subtle?.digest('SHA-256', new TextEncoder().encode(JSON.stringify(all)))
  return bytes && String(new Uint8Array(bytes))
}

const split = (key) => {
  const slash = key.indexOf('/')
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)]
}

let opened
function database() {
  return opened ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open('listwatch', 1)
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(OBJECTS, { keyPath: ['collection', 'key'] })
      opening.result.createObjectStore(VERSIONS)
    }
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
}

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
