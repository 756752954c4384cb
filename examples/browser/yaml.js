// An object as the lines of a YAML document.

const isObject = (v) => v !== null && typeof v === 'object'
const isEmpty = (v) => isObject(v) && !Object.keys(v).length

/** Returns the lines, each `{ depth, dash, key, text, at }`: `at` the keys that lead to it, `text` undefined above others. */
export function linesOf(object) {
  const lines = []
  walk(object, 0, [], lines)
  return lines
}

function walk(value, depth, at, lines) {
  const entries = Array.isArray(value) ? value.map((element, i) => [i, element]) : Object.entries(value)
  for (const [key, member] of entries) {
    const here = [...at, key]
    if (typeof key === 'number') element(member, depth, here, lines)
    else if (isObject(member) && !isEmpty(member)) {
      lines.push({ depth, dash: 0, key, at: here })
      walk(member, Array.isArray(member) ? depth : depth + 1, here, lines)
    } else scalar({ depth, dash: 0, key, at: here }, member, lines)
  }
}

// The first line of an element gets the dash.
function element(member, depth, at, lines) {
  const first = lines.length
  if (isObject(member) && !isEmpty(member)) walk(member, depth + 1, at, lines)
  else scalar({ depth: depth + 1, dash: 0, at }, member, lines)
  lines[first].dash++
}

function scalar(line, value, lines) {
  if (typeof value !== 'string' || !value.includes('\n')) return lines.push({ ...line, text: textOf(value) })
  lines.push({ ...line, text: value.endsWith('\n') ? '|' : '|-' })
  for (const text of value.replace(/\n$/, '').split('\n')) lines.push({ depth: line.depth + 1, dash: 0, text, at: line.at })
}

// Names, paths and images; uids, addresses and quantities. What YAML would read as a number or a date is quoted.
const PLAIN = /^([A-Za-z_/][\w ./@+-]*(:[\w./@+-]+)*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(\.\d+){3}(\/\d+)?|\d+([KMGTP]i?|[mk]))$/
const WORDS = /^(true|false|yes|no|on|off|null|y|n)$/i

function textOf(value) {
  if (typeof value !== 'string') return JSON.stringify(value)
  return PLAIN.test(value) && !WORDS.test(value) && !value.endsWith(' ') ? value : JSON.stringify(value)
}

const keyOf = (key) => (key === undefined ? '' : `${PLAIN.test(key) && !WORDS.test(key) ? key : JSON.stringify(key)}:`)

/** A line's parts: what is before the key, the key with its colon, and the value. */
export function partsOf({ depth, dash, key, text }) {
  return [`${'  '.repeat(depth - dash)}${'- '.repeat(dash)}`, keyOf(key), text === undefined ? '' : key === undefined ? text : ` ${text}`]
}

export const toYAML = (object) => linesOf(object).map((line) => `${partsOf(line).join('')}\n`).join('')
