// Evaluates field paths and selectors for the fake cluster of listwatch/testing.

/** @typedef {(string | number)[]} Steps the member names and array indexes of a path; "*" stands for all elements of an array */

// Splits a path such as spec.containers[*].image. A backslash escapes a dot or a bracket in a name.
/** @param {string} path @returns {Steps} */
const stepsOf = (path) => [...path.matchAll(/\[(\*|\d+)\]|((?:\\.|[^.[\\])+)/g)]
  .map(([, index, name]) => (name === undefined ? index === '*' ? index : Number(index) : name.replace(/\\(.)/g, '$1')))

/** Returns the first value at the path. @param {any} value @param {Steps} steps @returns {any} */
function get(value, [step, ...rest]) {
  if (step === undefined || value === null || typeof value !== 'object') return step === undefined ? value : undefined
  if (step !== '*') return get(value[step], rest)
  for (const element of Array.isArray(value) ? value : []) {
    const found = get(element, rest)
    if (found !== undefined) return found
  }
}

/** Returns the value at the path as a string, or "" if there is none. @param {unknown} object @param {string} path */
export function fieldOf(object, path) {
  const value = get(object, stepsOf(path)) ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns a copy of the object with only the fields at `paths`. @param {unknown} object @param {readonly string[]} paths */
export const project = (object, paths) => pick(object, paths.map(stepsOf))

/** @param {any} value @param {Steps[]} all @returns {any} */
function pick(value, all) {
  if (all.some((steps) => !steps.length) || value === null || typeof value !== 'object') return value
  /** @param {string} name */
  const after = (name) => all.filter(([step]) => step === name).map(([, ...rest]) => rest)
  // A path in an array keeps the fields of all elements; see #textOf in fake.js.
  if (Array.isArray(value)) return value.map((element) => pick(element, all.map(([, ...rest]) => rest)))
  return Object.fromEntries(Object.entries(value).filter(([name]) => after(name).length).map(([name, member]) => [name, pick(member, after(name))]))
}

/** @typedef {(object: any) => boolean} Matches */

// Returns a function that reports whether an object matches a label selector. It throws for an invalid selector.
/** @param {string} selector @returns {Matches} */
export function labelMatcher(selector) {
  // The commas in parentheses separate values, and all others separate requirements.
  const requirements = (selector.match(/(?:[^,(]|\([^)]*\))+/g) ?? []).map((part) => labelRequirement(part.trim()))
  return (object) => requirements.every((fits) => fits(object.metadata?.labels ?? {}))
}

/** @param {string} text @returns {(labels: Record<string, string>) => boolean} */
function labelRequirement(text) {
  const [, not, name] = text.match(/^(!?)\s*([\w./-]+)$/) ?? []
  if (name) return (labels) => Object.hasOwn(labels, name) === !not
  const parts = text.match(/^(?<key>[\w./-]+)\s*(?:(?<sign>==?|!=)\s*(?<value>[\w.-]*)|\s(?<set>in|notin)\s*\((?<values>[^)]*)\))$/)?.groups
  if (!parts) throw new Error(`unable to parse the label selector ${text}`)
  const { key, sign, value, set, values } = parts
  const accepted = set ? values.split(',').map((part) => part.trim()) : [value]
  return (labels) => (Object.hasOwn(labels, key) && accepted.includes(labels[key])) === (sign !== '!=' && set !== 'notin')
}

// Returns a function that reports whether an object matches a field selector. It throws for an invalid selector.
/** @param {string} selector @returns {Matches} */
export function fieldMatcher(selector) {
  const requirements = selector.split(',').filter(Boolean).map((part) => {
    const [, path, operator, value] = part.match(/^([^=!]+)(==?|!=)(.*)$/) ?? []
    if (!path) throw new Error(`unable to parse the field selector ${part}`)
    return (/** @type {any} */ object) => (fieldOf(object, path.trim()) === value.trim()) === (operator !== '!=')
  })
  return (object) => requirements.every((fits) => fits(object))
}
