// Evaluates the simple JSON paths of printer columns, for example .status.conditions[?(@.type=="Ready")].status

/** @import { Kube } from './format.js' */

/** Matches one step: .name, ['name'], [0], [*] or [?(@.field=="text")]. A backslash escapes a dot in a name. */
const STEP = /^(?:\.((?:[^.[\]\\]|\\.)+)|\['([^']+)'\]|\[(\d+|\*)\]|\[\?\(@\.([\w.]+)\s*==\s*(?:"([^"]*)"|'([^']*)')\)\])/

/** @type {(value: any, name: string) => any} */
const member = (value, name) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value[name] : undefined)

/**
 * Returns a function that maps a value to the values that the step selects in it.
 * @param {RegExpExecArray} match
 * @returns {(value: any) => any[]}
 */
function stepOf([, dotted, quoted, index, field, double, single]) {
  const name = dotted?.replace(/\\(.)/g, '$1') ?? quoted
  if (name !== undefined) return (value) => [member(value, name)]
  const elements = (/** @type {any} */ value) => (Array.isArray(value) ? value : [])
  if (index !== undefined) return (value) => (index === '*' ? elements(value) : [elements(value)[Number(index)]])
  return (value) => elements(value).filter((element) => field.split('.').reduce(member, element) === (double ?? single))
}

/**
 * Parses a JSON path. Returns undefined if the path contains a step that this file does not support. `first` returns the
 * first value at the path in an object, or undefined. `field` is the longest prefix that consists of plain names.
 * @param {string} path
 * @returns {{ field: string, first: (object: Kube) => any } | undefined}
 */
export function parsePath(path) {
  /** @type {((value: any) => any[])[]} */
  const steps = []
  for (let rest = path; rest;) {
    const match = STEP.exec(rest)
    if (!match) return undefined
    steps.push(stepOf(match))
    rest = rest.slice(match[0].length)
  }
  const field = (/^(\.[\w-]+)*(?=\.|\[|$)/.exec(path)?.[0] ?? '').slice(1)
  const first = (/** @type {Kube} */ object) => steps
    .reduce((values, step) => values.flatMap((value) => step(value)), /** @type {any[]} */ ([object])).find((value) => value !== undefined && value !== null)
  return { field, first }
}
