// Defines the building blocks of columns.

/**
 * @typedef {Record<string, any>} Kube A Kubernetes object of any kind.
 *
 * @typedef {object} Options
 * @property {(object: Kube, text: string) => string | undefined} [tone]
 * @property {(object: Kube) => number} [rank] the number to sort by
 * @property {boolean} [end] aligns to the right
 * @property {boolean} [spare] hidden if the table is too narrow
 * @property {boolean} [strong]
 * @property {boolean} [dot]
 * @property {boolean} [rounded] whether a time is known only from a rounded age
 *
 * @typedef {Options & { id: string, title: string, width: Width, text: (object: Kube) => string, time?: undefined }} TextColumn
 * @typedef {Options & { id: string, title: string, width: Width, text?: undefined, time: (object: Kube) => number }} TimeColumn
 * Shows the age of a time in milliseconds and sorts by it.
 * @typedef {TextColumn | TimeColumn} Column The URL contains the column's id.
 * @typedef {number | [number, number]} Width Pixels, or the minimum width in pixels and the share of the remaining width.
 */

/** @type {(text: string | undefined) => number} */
export const since = (text) => (text ? Date.parse(text) : NaN)

/**
 * Formats a duration, rounded like in kubectl.
 * @param {number} ms
 */
export function age(ms) {
  if (Number.isNaN(ms)) return '—'
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`
  if (seconds < 2 * 365 * 86400) return `${Math.floor(seconds / 86400)}d`
  return `${Math.floor(seconds / (365 * 86400))}y`
}

/** @type {(text: string) => string} Returns text that sorts web-2 before web-10. */
export const natural = (text) => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'))

/** @type {(o: Kube, type: string) => Kube | undefined} */
export const condition = (o, type) => o.status?.conditions?.find((/** @type {Kube} */ c) => c.type === type)

/** @type {(event: Kube) => number} Returns the time at which an event was last observed. */
export const lastSeen = (event) => since(event.series?.lastObservedTime ?? event.lastTimestamp ?? event.deprecatedLastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp)

/** @type {TextColumn} */
export const name = { id: 'name', title: 'Name', width: [156, 3], text: (o) => o.metadata?.name ?? '', strong: true }
/** @type {TextColumn} */
export const namespace = { id: 'namespace', title: 'Namespace', width: 128, text: (o) => o.metadata?.namespace ?? '' }
/** @type {TimeColumn} */
export const created = { id: 'age', title: 'Age', width: 64, time: (o) => since(o.metadata?.creationTimestamp), end: true }

/** @type {TextColumn} */
export const labels = {
  id: 'labels', title: 'Labels', width: [160, 3], spare: true,
  text: (o) => Object.entries(o.metadata?.labels ?? {}).map(([key, value]) => `${key.replace(/^.*\//, '')}=${value}`).join('  '),
  tone: () => 'dim',
}

/** @type {(id: string, title: string, width: Width, text: (o: Kube) => any, more?: Options) => TextColumn} Returns a column of plain text. */
export const plain = (id, title, width, text, more = {}) => ({ id, title, width, text: (o) => String(text(o) ?? ''), ...more })

/** @type {(id: string, title: string, width: Width, number: (o: Kube) => any, more?: Options) => TextColumn} Returns a column of numbers. */
export const count = (id, title, width, number, more = {}) => plain(id, title, width, number, { rank: (o) => Number(number(o) ?? 0), end: true, ...more })

/** @type {(id: string, title: string, width: Width, parts: (o: Kube) => any[]) => TextColumn} Returns a column such as "2/3", which warns if the numbers differ. */
export const outOf = (id, title, width, parts) => {
  const read = (/** @type {Kube} */ o) => parts(o).map((n) => n ?? 0)
  return {
    id, title, width, end: true,
    text: (o) => read(o).join('/'),
    rank: (o) => { const [is, of] = read(o); return of ? is / of : 1 },
    tone: (o) => { const [is, of] = read(o); return is === of ? undefined : 'warn' },
  }
}
