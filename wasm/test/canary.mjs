// Secrets of unmistakable text, which are looked for in whatever form they got out.
import assert from 'node:assert/strict'

/** A token, of which the beginning is looked for, so that one that was cut off is found, too. */
export const secret = (what) => `${beginning(what)}0123456789abcdef`
const beginning = (what) => `C4+ary/${what}~`

/** All forms of the secrets of these names. */
export function formsOf(...names) {
  return names.flatMap((name) => {
    const text = beginning(name), hex = Buffer.from(text).toString('hex')
    const base64 = [0, 1, 2].flatMap((shift) => { // what stands before it shifts the bits
      const encoded = Buffer.from('x'.repeat(shift) + text).toString('base64').replace(/=+$/, '')
      const own = encoded.slice(Math.floor((shift * 8 + 5) / 6), -1)
      return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
    })
    return [text, encodeURIComponent(text), encodeURI(text), text.replaceAll('/', '\\/'), hex, [...Buffer.from(text)].join(','), ...base64]
  })
}

/** Fails if a text has a secret. */
export function absent(where, text, forms) {
  for (const form of forms) assert.ok(!text.includes(form), `${where} has ${form}: ${text}`)
}

/** All that a value says, and what it is made of, as a logger would have it. */
export function spoken(value, depth = 0) {
  if (depth > 6 || value === null || typeof value !== 'object') return String(value)
  const own = Object.getOwnPropertyNames(value).map((name) => {
    try { return `${name}: ${spoken(value[name], depth + 1)}` } catch { return name }
  })
  return `${value instanceof Error ? value.stack : ''} ${own.join('\n')}`
}
