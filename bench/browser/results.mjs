import { median } from './print.mjs'

/** Rows of the table in docs/performance.md. */
const rows = {
  heap: 'heap of the main thread with 10,000 Pods, MB', parsedHeap: 'heap of the main thread after every Pod was read, MB',
  loadTasks: 'long tasks during the list of 10,000 Pods', cpu: 'CPU time of the main thread for 5,000 events, ms',
  ready: 'time to load the code and list 10,000 Pods, ms', synced: 'time from init to 1,000 Pods, ms',
  cached: 'time from init to 1,000 Pods with cached code, ms', burst: 'time for a burst of 10,000 changes, ms',
}
/** Rows for Node. The figure `nothing` is the time from nothing, including code loading, until 1,000 Pods are listed. */
const rowsOfNode = { nothing: 'time to start, ms', burst: rows.burst }
/** Columns for a browser: plain JavaScript, and listwatch in its default mode "shared", which uses a SharedWorker. */
const contenders = { plain: 'plain JavaScript', shared: 'listwatch' }
const places = { chrome: 'Chromium', firefox: 'Firefox' }

/**
 * Returns the figures of docs/performance.md by name, for internal/tools/publish. A figure is an array with the median of
 * all rounds. The array is empty if every round lacks the figure or has NaN, for example because Firefox cannot measure
 * the heap. `browsers` maps the name of a browser to its rounds, and `node` contains the rounds in Node. A round is an
 * object {contender: {figure: number}}. `sizes.page` is in bytes.
 */
export function results({ browsers, node, sizes }) {
  const all = { 'page | listwatch': [sizes.page / 1000] }
  const add = (names, row, column, contender, rounds) => {
    const values = rounds.map((round) => round[contender]?.[row]).filter(Number.isFinite)
    all[`${names[row]} | ${column}`] = values.length ? [median(values)] : []
  }
  for (const [name, rounds] of Object.entries(browsers)) {
    for (const row of Object.keys(rows)) {
      for (const contender of Object.keys(contenders)) add(rows, row, `${contenders[contender]}, ${places[name]}`, contender, rounds)
    }
  }
  for (const row of Object.keys(rowsOfNode)) for (const contender of ['listwatch', 'client-node']) add(rowsOfNode, row, `${contender}, Node`, contender, node)
  return all
}
