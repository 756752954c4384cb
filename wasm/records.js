// Records report the objects and the state of a collection. The WASM module sends them (see outbox.go). A record
// consists of a kind, the number of its fields, and the fields. Each field is a string, preceded by its length in bytes.
// A field for a boolean is "1" or "". These are the fields of each kind:
//
// - ADDED, MODIFIED, SAVED: key, version, uid, the object's resourceVersion, checksum, the value for each index, JSON
// - DELETED: key, version, whether the final state is unknown
// - SYNCED, LIVE, BOOKMARK: version
// - INTERRUPTED, STOPPED: code, message, HTTP status, reason, delay until the next attempt in ms, whether it is a relist
// - PAGE: number of objects on the remaining pages, continue token
// - SWITCHED: reason for using another transport
// - ACTIVITY: time of the last data, version, start of the phase or nothing
// - UNSAVED: reason, or "" to clear it
// - WARNING: text for the console, cause, or "" to log the text even if the cause was logged recently
//
// The version is the resourceVersion that the collection has reached, or "" if the record does not change it.

export const ADDED = 1, MODIFIED = 2, DELETED = 3, RESET = 4, SYNCED = 5, LIVE = 6, BOOKMARK = 7, INTERRUPTED = 8,
  STOPPED = 9, SWITCHED = 10, PAGE = 11, WARNING = 12
/** An object that an earlier page saved. Only JavaScript sends this record and the next two. */
export const SAVED = 13
/** The activity before the receiver joined, on the earlier page that saved the objects or on the page that replays them. */
export const ACTIVITY = 14
/** Whether and why the collection is not saved. */
export const UNSAVED = 15

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // despite its name, the option keeps a byte order mark
const encoder = new TextEncoder()

/**
 * Calls `visit` for each record.
 * @param {Uint8Array} bytes
 * @param {(kind: number, fields: string[]) => void} visit
 */
export function decode(bytes, visit) {
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length;) {
    const kind = bytes[at], fields = new Array(bytes[at + 1]), start = at += 2
    let end = start // the end of all fields except the last, which may be a large object
    for (let i = 1; i < fields.length; i++) end += 4 + numbers.getUint32(end, true)
    // Calling the decoder for each field is slow. If all bytes are ASCII, one call decodes all fields except the last.
    const head = decoder.decode(bytes.subarray(start, end)), ascii = head.length === end - start
    for (let i = 0; i < fields.length; i++) {
      const from = at + 4
      at = from + numbers.getUint32(at, true)
      fields[i] = at === from ? '' : ascii && at <= end ? head.slice(from - start, at - start) : decoder.decode(bytes.subarray(from, at))
    }
    visit(kind, fields)
  }
}

/** @typedef {[kind: number, ...fields: string[]]} Row a record before it is encoded */

/** @param {Row[]} records */
export function encode(records) {
  const parts = []
  for (const [kind, ...fields] of records) parts.push(new Uint8Array([kind, fields.length]), encodeFields(fields))
  return concat(parts)
}

/** Encodes fields without the kind and the number of fields. @param {string[]} fields */
export function encodeFields(fields) {
  const parts = []
  for (const field of fields) {
    const bytes = encoder.encode(field)
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, bytes.length, true)
    parts.push(length, bytes)
  }
  return concat(parts)
}

/** @param {Uint8Array[]} parts */
export function concat(parts) {
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
