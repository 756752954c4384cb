// Compares measurements with the project's budgets.
import { median } from './print.mjs'

/** The maximum value of each measurement. A ratio or a difference compares the package with plain JavaScript in the same round. */
export const budgets = {
  wasm: 610, // kB, compressed with brotli 11
  script: 11, // kB, minified and gzipped: the JavaScript of a page with the React hooks, without React and the worker
  ready: 1, // ratio of the time until 10,000 Pods are listed
  heap: 0.1, // ratio of the main thread's heap with 10,000 Pods
  parsedHeap: 0.9, // the same ratio after each object was parsed
  loadTasks: 0, // long tasks while 10,000 Pods are listed
  tableTasks: 0, // long tasks at 1,000 changes per second
  cpu: 1, // ratio of the main thread's CPU time for 5,000 events, with list() after each batch
  synced: 100, // difference, in ms, in the time from init() until 1,000 Pods are listed
  cached: 100, // the same difference if the browser has cached the code
}

const names = {
  ready: 'time until 10,000 Pods are ready', heap: 'main-thread heap with 10,000 Pods', parsedHeap: 'main-thread heap with 10,000 parsed Pods',
  loadTasks: 'long tasks during the load', tableTasks: 'long tasks at 1,000 changes/s', cpu: 'main-thread CPU time for 5,000 events with list()',
  synced: 'time from init to 1,000 Pods', cached: 'time from init to 1,000 Pods with cached code',
}
const differences = ['synced', 'cached']
const onlyChrome = ['heap', 'parsedHeap'] // Firefox cannot measure the heap

const mode = 'shared' // the default mode of a page

/**
 * Returns a row for each budget: {what, figure, budget, met: 'yes', 'NO' or 'not measured', beside}. `beside` contains
 * the medians of both contenders.
 */
export function judge({ sizes, browsers }) {
  const rows = [row('the WASM module, kB, brotli 11', sizes.wasm, budgets.wasm), row('a page\'s JavaScript, kB, gzipped', sizes.page / 1000, budgets.script)]
  for (const [name, rounds] of Object.entries(browsers)) {
    for (const key of Object.keys(names)) {
      if (name === 'chrome' || !onlyChrome.includes(key)) rows.push(compare(`${name}: ${names[key]}`, key, rounds))
    }
  }
  return rows
}

function compare(what, key, rounds) {
  const all = (contender) => rounds.map((round) => round[contender][key])
  const counted = budgets[key] === 0 // the number of long tasks, which is not compared with plain JavaScript
  const relate = differences.includes(key) ? (a, b) => a - b : (a, b) => a / b
  const figure = median(counted ? all(mode) : rounds.map((round) => relate(round[mode][key], round.plain[key])))
  const others = `${median(all(mode)).toFixed(1)}, plain JavaScript ${median(all('plain')).toFixed(1)}`
  // The start of an empty Go program shows how much of a difference every Go program has.
  return row(what, figure, budgets[key], differences.includes(key) ? `${others}, empty Go program ${median(all('empty')).toFixed(1)}` : others)
}

function row(what, figure, budget, beside = '') {
  const met = !Number.isFinite(figure) ? 'not measured' : figure <= budget ? 'yes' : 'NO'
  return { what, figure: Math.round(figure * 100) / 100, budget, met, beside }
}
