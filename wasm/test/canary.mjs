// Creates unique secrets, and searches strings for all encodings of a secret.
import assert from 'node:assert/strict'

/** Returns a token. Searches look for the beginning of the token, so they also find truncated tokens. */
export const secret = (what) => `${beginning(what)}0123456789abcdef`
const beginning = (what) => `C4+ary/${what}~`

/** Returns the secrets with these names in all encodings. */
export function formsOf(...names) {
  return names.flatMap((name) => {
    const text = beginning(name), hex = Buffer.from(text).toString('hex')
    const base64 = [0, 1, 2].flatMap((shift) => { // the base64 encoding depends on the number of preceding bytes
      const encoded = Buffer.from('x'.repeat(shift) + text).toString('base64').replace(/=+$/, '')
      const own = encoded.slice(Math.floor((shift * 8 + 5) / 6), -1)
      return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
    })
    return [text, encodeURIComponent(text), encodeURI(text), text.replaceAll('/', '\\/'), hex, [...Buffer.from(text)].join(','), ...base64]
  })
}

/** Fails if the text contains one of the encoded secrets. */
export function absent(where, text, forms) {
  for (const form of forms) assert.ok(!text.includes(form), `${where} contains ${form}: ${text}`)
}

/** Returns a string that contains all properties of a value, like the output of a logger. */
export function spoken(value, depth = 0) {
  if (depth > 6 || value === null || typeof value !== 'object') return String(value)
  const own = Object.getOwnPropertyNames(value).map((name) => {
    try { return `${name}: ${spoken(value[name], depth + 1)}` } catch { return name }
  })
  return `${value instanceof Error ? value.stack : ''} ${own.join('\n')}`
}
