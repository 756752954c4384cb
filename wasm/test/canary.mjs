// Creates secrets for tests, and searches strings for a secret in any encoding.
import assert from 'node:assert/strict'

/** Returns a token for a name. A search finds the token by its beginning, even if the token is truncated. */
export const secret = (what) => `${beginning(what)}0123456789abcdef`
const beginning = (what) => `C4+ary/${what}~`

/** Returns the beginnings of the named secrets in all encodings. */
export function formsOf(...names) {
  return names.flatMap((name) => {
    const text = beginning(name), hex = Buffer.from(text).toString('hex')
    const base64 = [0, 1, 2].flatMap((shift) => { // the base64 encoding depends on the number of bytes before the secret
      const encoded = Buffer.from('x'.repeat(shift) + text).toString('base64').replace(/=+$/, '')
      const own = encoded.slice(Math.floor((shift * 8 + 5) / 6), -1)
      return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
    })
    return [text, encodeURIComponent(text), encodeURI(text), text.replaceAll('/', '\\/'), hex, [...Buffer.from(text)].join(','), ...base64]
  })
}

/** Fails if `text` contains one of the strings in `forms`. */
export function absent(where, text, forms) {
  for (const form of forms) assert.ok(!text.includes(form), `${where} contains ${form}: ${text}`)
}

/** Returns a string with all properties of a value, as a logger would print them. */
export function spoken(value, depth = 0) {
  if (depth > 6 || value === null || typeof value !== 'object') return String(value)
  const own = Object.getOwnPropertyNames(value).map((name) => {
    try { return `${name}: ${spoken(value[name], depth + 1)}` } catch { return name }
  })
  return `${value instanceof Error ? value.stack : ''} ${own.join('\n')}`
}
