// What differs between two objects, field by field.

import { toYAML } from './yaml.js'

const NAMES = ['name', 'type', 'key', 'ip', 'uid']
const isObject = (v) => v !== null && typeof v === 'object'

/**
 * Returns the fields that differ, each `{ path, at, old, now }`: the path as it is shown, as `status.conditions[Ready].status`,
 * the keys that lead to it in the newer object, and both values; undefined for what is not there. Elements of arrays are
 * matched by what names them, so that one that comes first does not change all others.
 */
export function diff(old, now) {
  const found = []
  compare(old, now, '', [], found)
  return found
}

function compare(old, now, path, at, found) {
  if (Object.is(old, now)) return
  if (!isObject(old) || !isObject(now) || Array.isArray(old) !== Array.isArray(now)) {
    found.push({ path, at, old, now })
  } else if (Array.isArray(now)) {
    compareArrays(old, now, path, at, found)
  } else {
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
      compare(old[key], now[key], path + (/^[\w-]+$/.test(key) ? (path && '.') + key : `["${key}"]`), [...at, key], found)
    }
  }
}

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

// Whether all elements are objects that differ by this member.
function named(array, name) {
  return array.every((element) => isObject(element) && typeof element[name] === 'string') && new Set(array.map((element) => element[name])).size === array.length
}

const NOISE = new Set(['metadata.resourceVersion', 'metadata.generation'])

const WHEN = /\.last\w+Time$/

/** What of a difference is worth telling, the times of it last: the version is, only when nothing else differs. */
export function telling(found) {
  const rest = found.filter(({ path }) => !NOISE.has(path))
  const told = rest.length ? rest : found
  return [...told.filter(({ path }) => !WHEN.test(path)), ...told.filter(({ path }) => WHEN.test(path))]
}

/** A value as it is shown: in one line, but for what has members. */
export function brief(value) {
  if (typeof value === 'string') return value || '""'
  return isObject(value) ? toYAML(value).trimEnd() : String(value)
}
