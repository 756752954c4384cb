import { median } from './print.mjs'

/** Rows of the table in docs/performance.md. */
const rows = ['heap', 'parsedHeap', 'loadTasks', 'cpu', 'ready', 'synced', 'cached', 'burst']

/**
 * Returns the figures of docs/performance.md for internal/tools/publish. A figure that a browser cannot measure is an
 * empty array.
 */
export function results({ browsers, node, sizes }) {
  const all = { 'page | listwatch': [sizes.page / 1000] }
  const add = (row, contender, place, rounds) => {
    const values = rounds.map((round) => round[contender]?.[row]).filter(Number.isFinite)
    all[`${row} | ${contender}, ${place}`] = values.length ? [median(values)] : []
  }
  for (const [name, rounds] of Object.entries(browsers)) {
    for (const row of rows) for (const contender of ['plain', 'shared']) add(row, contender, name, rounds)
  }
  for (const row of ['nothing', 'burst']) for (const contender of ['listwatch', 'client-node']) add(row, contender, 'node', node)
  return all
}
