// Distributes the width of the table among its columns.

import { isChosen } from './columns/index.js'

/** @import { Column } from './columns/format.js' */

const PADDING = 16 // width in pixels of the space around the columns, the same as in grid.css

const least = (/** @type {Column} */ { width }) => (Array.isArray(width) ? width[0] : width)

/**
 * Hides columns until the others fit: first those with `spare`, then the namespace, then ages and numbers. Each step
 * starts with the last column. If the namespace column is hidden, its cells move below the name.
 * @param {Column[]} columns
 * @param {number} available in pixels
 * @param {string[]} [chosen] the ids of the columns that the user has chosen; by default all
 * @returns {{ hidden: boolean[], stacked: number, width: number, tracks: string }} `hidden` tells for each column whether it
 * is hidden. `stacked` is the index of the namespace column if it was hidden for lack of width, or else -1. `width` is the
 * smallest width of the table in pixels: the other columns and the padding. `tracks` is the columns' grid-template-columns.
 */
export function fit(columns, available, chosen = []) {
  const hidden = columns.map((column) => !isChosen(chosen, column))
  const sum = () => columns.reduce((all, column, c) => (hidden[c] ? all : all + least(column)), PADDING)
  /** @type {((column: Column) => boolean | undefined)[]} */
  const steps = [({ spare }) => spare, ({ id }) => id === 'namespace', ({ end, id }) => end && id !== 'last'] // events are sorted by "last"
  for (const step of steps) {
    for (let c = columns.length - 1; c >= 0 && sum() > available; c--) hidden[c] ||= !!step(columns[c])
  }
  const tracks = columns.filter((_, c) => !hidden[c])
    .map(({ width }) => (Array.isArray(width) ? `minmax(${width[0]}px, ${width[1]}fr)` : `${width}px`))
  return { hidden, stacked: columns.findIndex((column, c) => column.id === 'namespace' && hidden[c] && isChosen(chosen, column)), width: sum(), tracks: tracks.join(' ') }
}
