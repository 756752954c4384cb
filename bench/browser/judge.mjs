// Compares measurements with the project's budgets.
import { median } from './print.mjs'

/** The maximum value for each measurement. */
export const budgets = {
  wasm: 600, // kB, compressed with brotli 11
  scripts: 12, // kB, minified and gzipped: the JavaScript of a page, or of its worker
  synced: 2, // multiple of plain JavaScript's time, measured from init
  burst: 1, // multiple of plain JavaScript's time
  block: 16, // longest block of the main thread in ms, at 1,000 changes per second
  memory: 1, // multiple of plain JavaScript's memory
  projected: 1 / 5, // multiple of plain JavaScript's memory
}

// The memory budgets apply to the default mode of a page.
const mode = 'shared'

/**
 * Returns a row for each budget: {what, figure, budget, met: 'yes', 'NO' or 'not measured', beside}. The field `beside`
 * contains related measurements without a budget.
 */
export function judge({ sizes, browsers, memory }) {
  const scripts = Math.max(...Object.entries(sizes).filter(([name]) => name !== 'wasm').map(([, bytes]) => bytes)) / 1000
  const rows = [row('the WASM module, kB, brotli 11', sizes.wasm, budgets.wasm), row('the JavaScript, kB, gzipped', scripts, budgets.scripts)]
  for (const [name, rounds] of Object.entries(browsers)) rows.push(...speed(name, rounds))
  if (memory) {
    const most = ({ came, read }) => Math.max(came, read)
    const times = (contender) => most(memory[contender]) / most(memory.plain)
    const beside = `${memory[mode].shared.toFixed(0)} MB in the SharedWorker, shared by all tabs; mode worker: ${times('worker').toFixed(2)} times the memory of plain JavaScript`
    rows.push(row('chrome: memory with 10,000 Pods, relative to plain JavaScript', times(mode), budgets.memory, beside),
      row('chrome: memory with three fields of each Pod, relative to plain JavaScript', times('projected'), budgets.projected))
  }
  return rows
}

function speed(name, rounds) {
  const all = (contender, what) => rounds.map((round) => round[contender][what])
  const times = (what) => median(rounds.map((round) => round[mode][what] / round.plain[what]))
  const ms = (contender, what) => median(all(contender, what)).toFixed(0)
  const both = (what) => `${ms(mode, what)} ms, plain JavaScript ${ms('plain', what)} ms`
  const floor = median(all('empty', 'paced'))
  const block = row(`${name}: longest main-thread block at 1,000 changes/s, ms`, median(all(mode, 'paced')), budgets.block,
    `plain JavaScript ${ms('plain', 'paced')} ms, an empty page ${floor.toFixed(0)} ms`)
  if (floor > budgets.block) block.met = 'not measured' // on this machine, even an empty page blocks for longer
  return [
    row(`${name}: from init to 1,000 Pods, relative to plain JavaScript`, times('synced'), budgets.synced, `${both('synced')}; including code loading ${both('nothing')}`),
    block,
    row(`${name}: a burst of 10,000 changes, relative to plain JavaScript`, times('burst'), budgets.burst, `${both('burst')}; second burst ${both('again')}`),
  ]
}

function row(what, figure, budget, beside = '') {
  const met = !Number.isFinite(figure) ? 'not measured' : figure <= budget ? 'yes' : 'NO'
  return { what, figure: Math.round(figure * 100) / 100, budget, met, beside }
}
