// Distributes the width of the table among its columns.

/** @import { Column } from './columns/format.js' */

const PADDING = 16 // width in pixels of the space around the columns, the same as in grid.css

const least = (/** @type {Column} */ { width }) => (Array.isArray(width) ? width[0] : width)

/**
 * Returns the columns without a track, the smallest width of the others in pixels, and their CSS tracks. If the width is
 * too small, columns lose their tracks: first those with `spare`, then the namespace, then ages and numbers. Each step
 * starts with the last column. `stacked` is the index of the namespace column if it has no track, and -1 otherwise.
 * All other columns without a track are hidden.
 * @param {Column[]} columns
 * @param {number} available in pixels
 */
export function fit(columns, available) {
  const spared = columns.map(() => false)
  const sum = () => columns.reduce((all, column, c) => (spared[c] ? all : all + least(column)), PADDING)
  /** @type {((column: Column) => boolean | undefined)[]} */
  const steps = [({ spare }) => spare, ({ id }) => id === 'namespace', ({ end, id }) => end && id !== 'last']
  for (const step of steps) {
    for (let c = columns.length - 1; c >= 0 && sum() > available; c--) spared[c] ||= !!step(columns[c])
  }
  const tracks = columns.filter((_, c) => !spared[c])
    .map(({ width }) => (Array.isArray(width) ? `minmax(${width[0]}px, ${width[1]}fr)` : `${width}px`))
  return { spared, stacked: columns.findIndex(({ id }, c) => id === 'namespace' && spared[c]), width: sum(), tracks: tracks.join(' ') }
}
