// Records are what the program tells of a collection: its kind, the number of its fields, and each field with its length
// before it. outbox.go writes them; whoever opens a collection that is followed already gets them from here.

export const ADDED = 1, MODIFIED = 2, DELETED = 3, RESET = 4, SYNCED = 5, LIVE = 6, BOOKMARK = 7, INTERRUPTED = 8,
  STOPPED = 9, SWITCHED = 10, PAGE = 11
/** Only the host makes these: an object that was kept from before; when something was last heard, and the version. */
export const KEPT = 12, HEARD = 13

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // which means that such a mark stays
const encoder = new TextEncoder()

/** Calls `visit(kind, fields)` for each record. */
export function decode(bytes, visit) {
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length;) {
    const kind = bytes[at], fields = new Array(bytes[at + 1]), start = at += 2
    let end = start // of all fields but the last, which may be an object
    for (let i = 1; i < fields.length; i++) end += 4 + numbers.getUint32(end, true)
    // A call for each field would cost more than the fields. These are parts of one text, lengths and all, if each byte of it
    // is a character.
    const head = decoder.decode(bytes.subarray(start, end)), parts = head.length === end - start
    for (let i = 0; i < fields.length; i++) {
      const from = at + 4
      at = from + numbers.getUint32(at, true)
      fields[i] = at === from ? '' : parts && at <= end ? head.slice(from - start, at - start) : decoder.decode(bytes.subarray(from, at))
    }
    visit(kind, fields)
  }
}

/** Returns the bytes of records, each `[kind, ...fields]`. */
export function encode(records) {
  const parts = []
  for (const [kind, ...fields] of records) parts.push(new Uint8Array([kind, fields.length]), encodeFields(fields))
  return concat(parts)
}

/** Returns the bytes of fields alone. */
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

export function concat(parts) {
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
