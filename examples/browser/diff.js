// Compares two objects field by field.

import { toYAML } from './yaml.js'

// The members that identify the elements of Kubernetes arrays, for example of containers, conditions, tolerations and podIPs.
// The first member that is unique in an array counts.
const NAMES = ['name', 'type', 'key', 'ip', 'uid']
/** @typedef {{ path: string, at: (string | number)[], old: unknown, now: unknown }} Difference */

/** @type {(value: unknown) => value is Record<string, any>} */
const isObject = (value) => value !== null && typeof value === 'object'

/**
 * Returns the fields that differ. Each difference has a path to display, such as `status.conditions[Ready].status`, the
 * keys of the field in the newer object, and both values. A missing value is undefined. Array elements are matched by
 * name, because an inserted element would otherwise change all elements after it.
 * @param {unknown} old
 * @param {unknown} now
 */
export function diff(old, now) {
  /** @type {Difference[]} */
  const found = []
  compare(old, now, '', [], found)
  return found
}

/**
 * @param {unknown} old
 * @param {unknown} now
 * @param {string} path
 * @param {(string | number)[]} at
 * @param {Difference[]} found
 */
function compare(old, now, path, at, found) {
  if (Object.is(old, now)) return
  if (Array.isArray(old) && Array.isArray(now)) {
    compareArrays(old, now, path, at, found)
  } else if (!isObject(old) || !isObject(now) || Array.isArray(old) || Array.isArray(now)) {
    found.push({ path, at, old, now })
  } else {
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      compare(old[key], now[key], path + (/^[\w-]+$/.test(key) ? (path && '.') + key : `["${key}"]`), [...at, key], found)
    }
  }
}

/**
 * @param {any[]} old
 * @param {any[]} now
 * @param {string} path
 * @param {(string | number)[]} at
 * @param {Difference[]} found
 */
function compareArrays(old, now, path, at, found) {
  const name = NAMES.find((n) => named(old, n) && named(now, n))
  if (!name) {
    for (let i = 0; i < Math.max(old.length, now.length); i++) compare(old[i], now[i], `${path}[${i}]`, [...at, i], found)
    return
  }
  const before = new Map(old.map((element) => [element[name], element]))
  now.forEach((element, i) => {
    compare(before.get(element[name]), element, `${path}[${element[name]}]`, [...at, i], found)
    before.delete(element[name])
  })
  for (const [gone, element] of before) found.push({ path: `${path}[${gone}]`, at, old: element, now: undefined })
}

/**
 * Reports whether all elements are objects with unique strings in the member `name`.
 * @param {any[]} array
 * @param {string} name
 */
function named(array, name) {
  return array.every((element) => isObject(element) && typeof element[name] === 'string') && new Set(array.map((element) => element[name])).size === array.length
}

const NOISE = new Set(['metadata.resourceVersion', 'metadata.generation']) // they change together with other fields
const WHEN = /\.last\w+Time$/ // for example status.conditions[Ready].lastTransitionTime

/**
 * Returns the differences to show, with timestamps last. It includes the resourceVersion only if there is no other
 * difference.
 * @param {Difference[]} found
 */
export function visibleDifferences(found) {
  const rest = found.filter(({ path }) => !NOISE.has(path))
  const shown = rest.length ? rest : found
  return [...shown.filter(({ path }) => !WHEN.test(path)), ...shown.filter(({ path }) => WHEN.test(path))]
}

/**
 * Returns a value as text: an object as YAML, any other value as one line.
 * @param {unknown} value
 */
export function brief(value) {
  if (typeof value === 'string') return value || '""'
  return isObject(value) ? toYAML(value).trimEnd() : String(value)
}
