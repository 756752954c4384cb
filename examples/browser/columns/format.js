// What columns are made with. A column has an id for the URL, a title, a width in pixels (or [least, share of what is left]),
// and `text(object)`; optionally `time(object)` in place of text, whose age is shown and sorted by, `tone(object, text)`,
// `rank(object)` to sort by, `end` to align to the right, `spare` to give way where there is no room.

export const since = (text) => (text ? Date.parse(text) : NaN)

/** A duration in milliseconds, as kubectl would round it. */
export function age(ms) {
  if (Number.isNaN(ms)) return '—'
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`
  if (seconds < 2 * 365 * 86400) return `${Math.floor(seconds / 86400)}d`
  return `${Math.floor(seconds / (365 * 86400))}y`
}

/** Text in an order in which web-2 comes before web-10. */
export const natural = (text) => text.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'))

export const condition = (o, type) => o.status?.conditions?.find((c) => c.type === type)

export const name = { id: 'name', title: 'Name', width: [170, 3], text: (o) => o.metadata?.name ?? '', strong: true }
export const namespace = { id: 'namespace', title: 'Namespace', width: 128, text: (o) => o.metadata?.namespace ?? '', spare: true }
export const created = { id: 'age', title: 'Age', width: 64, time: (o) => since(o.metadata?.creationTimestamp), end: true }

export const labels = {
  id: 'labels', title: 'Labels', width: [160, 3], spare: true,
  text: (o) => Object.entries(o.metadata?.labels ?? {}).map(([key, value]) => `${key.replace(/^.*\//, '')}=${value}`).join('  '),
  tone: () => 'dim',
}

/** A column of plain text. */
export const plain = (id, title, width, text, more = {}) => ({ id, title, width, text: (o) => String(text(o) ?? ''), ...more })

/** A column of a number. */
export const count = (id, title, width, number, more = {}) => plain(id, title, width, number, { rank: (o) => Number(number(o) ?? 0), end: true, ...more })

/** "2/3", warned of while they differ. */
export const outOf = (id, title, width, parts) => {
  const read = (o) => parts(o).map((n) => n ?? 0)
  return {
    id, title, width, end: true,
    text: (o) => read(o).join('/'),
    rank: (o) => { const [is, of] = read(o); return of ? is / of : 1 },
    tone: (o) => { const [is, of] = read(o); return is === of ? undefined : 'warn' },
  }
}
