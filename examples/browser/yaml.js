// Converts an object to the lines of a YAML document.

/**
 * @typedef {(string | number)[]} Keys Path to a value.
 * @typedef {{ depth: number, dash: number, key?: string, text?: string, at: Keys }} Line `depth` is the indent in steps of two
 * spaces. The last `dash` steps are dashes. `text` is undefined if nested lines follow.
 */

/** @type {(value: unknown) => value is object} */
const isObject = (value) => value !== null && typeof value === 'object'
const isEmpty = (/** @type {unknown} */ value) => isObject(value) && !Object.keys(value).length

/**
 * Returns the lines of an object's YAML document.
 * @param {object} object
 */
export function linesOf(object) {
  /** @type {Line[]} */
  const lines = []
  walk(object, 0, [], lines)
  return lines
}

/**
 * @param {object} value
 * @param {number} depth
 * @param {Keys} at
 * @param {Line[]} lines
 */
function walk(value, depth, at, lines) {
  /** @type {[string | number, unknown][]} */
  const entries = Array.isArray(value) ? value.map((element, i) => [i, element]) : Object.entries(value)
  for (const [key, member] of entries) {
    const here = [...at, key]
    if (typeof key === 'number') element(member, depth, here, lines)
    else if (isObject(member) && !isEmpty(member)) {
      lines.push({ depth, dash: 0, key, at: here })
      walk(member, Array.isArray(member) ? depth : depth + 1, here, lines) // like kubectl, without an indent before dashes
    } else scalar({ depth, dash: 0, key, at: here }, member, lines)
  }
}

/**
 * Adds an array element. The dash precedes its first line.
 * @param {unknown} member
 * @param {number} depth
 * @param {Keys} at
 * @param {Line[]} lines
 */
function element(member, depth, at, lines) {
  const first = lines.length
  if (isObject(member) && !isEmpty(member)) walk(member, depth + 1, at, lines)
  else scalar({ depth: depth + 1, dash: 0, at }, member, lines)
  lines[first].dash++
}

/**
 * @param {Line} line
 * @param {unknown} value
 * @param {Line[]} lines
 */
function scalar(line, value, lines) {
  if (typeof value !== 'string' || !value.includes('\n')) {
    lines.push({ ...line, text: textOf(value) })
    return
  }
  lines.push({ ...line, text: value.endsWith('\n') ? '|' : '|-' })
  for (const text of value.replace(/\n$/, '').split('\n')) lines.push({ depth: line.depth + 1, dash: 0, text, at: line.at })
}

// Strings that need no quotes: names, paths, images, UIDs, addresses and quantities. Strings that YAML would read as
// numbers or dates are quoted.
const PLAIN = /^([A-Za-z_/][\w ./@+-]*(:[\w./@+-]+)*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(\.\d+){3}(\/\d+)?|\d+([KMGTP]i?|[mk]))$/
const WORDS = /^(true|false|yes|no|on|off|null|y|n)$/i // YAML would read these strings as booleans or null

/** @param {unknown} value */
function textOf(value) {
  if (typeof value !== 'string') return JSON.stringify(value)
  return PLAIN.test(value) && !WORDS.test(value) && !value.endsWith(' ') ? value : JSON.stringify(value)
}

const keyOf = (/** @type {string | undefined} */ key) => (key === undefined ? '' : `${PLAIN.test(key) && !WORDS.test(key) ? key : JSON.stringify(key)}:`)

/**
 * Returns the parts of a line: the indent with dashes, the key with its colon, and the value.
 * @param {Line} line
 */
export function partsOf({ depth, dash, key, text }) {
  return [`${'  '.repeat(depth - dash)}${'- '.repeat(dash)}`, keyOf(key), text === undefined ? '' : key === undefined ? text : ` ${text}`]
}

export const toYAML = (/** @type {object} */ object) => linesOf(object).map((line) => `${partsOf(line).join('')}\n`).join('')
