// Compares the package with plain JavaScript and other clients in Chromium, Firefox and Node. It prints medians and
// compares them with the budgets. With CHECK=1, it measures only figures that have a budget, and fails if one exceeds
// its budget. With WRITE=1, it saves the results and updates the tables in the documents. Its argument is the server program,
// which `make bench-browser` builds from main.go.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, project, weigh } from '../../e2e/browser/project.mjs'
import { brotli } from '../../internal/tools/size/brotli.mjs'
import { publish } from '../../internal/tools/publish/publish.mjs'
import { memories, times } from './browsers.mjs'
import { judge } from './judge.mjs'
import { inNode } from './nodes.mjs'
import { median, print, progress } from './print.mjs'
import { results } from './results.mjs'

const [program] = process.argv.slice(2)
const check = !!process.env.CHECK
const write = !!process.env.WRITE
const rounds = Number(process.env.ROUNDS || 5)
const browsers = (process.env.BROWSERS || 'chrome firefox').split(' ')
if (write && (check || browsers.length < 2)) throw new Error('WRITE=1 needs the figures of both browsers and of Node, so omit CHECK and BROWSERS')
const local = (path) => fileURLToPath(new URL(path, import.meta.url))

// The contenders whose times are measured, and those whose memory is measured. Budgets apply only to the mode "shared".
const timed = ['plain', 'shared', ...check ? [] : ['worker', 'main']]
const held = ['plain', 'shared', 'worker', 'main']

// Returns a row for each contender, with the median of each figure over all rounds.
function tabulate(found) {
  const columns = Object.entries({
    nothing: '1,000 Pods, including code loading, ms', synced: '1,000 Pods after init, ms', cached: '1,000 Pods with cached code, ms',
    ready: '10,000 Pods, ms', loadTasks: 'long tasks while listing 10,000 Pods', heap: 'heap of the main thread, MB', parsedHeap: 'heap with all objects parsed, MB',
    cpu: 'CPU of the main thread for 5,000 events, ms', tableTasks: 'long tasks at 1,000 changes/s',
    burst: '10,000 changes, ms', burstBlock: 'longest block of 10,000 changes, ms', again: 'another 10,000 changes, ms',
    againBlock: 'longest block of another 10,000 changes, ms', rss: 'RSS of the process with 10,000 Pods, MB',
  })
  const contenders = [...new Set(found.flatMap((round) => Object.keys(round)))]
  return contenders.map((contender) => {
    const own = found.flatMap((round) => round[contender] ?? [])
    const cells = columns.filter(([what]) => what in own[0]).map(([what, title]) => [title, median(own.map((each) => each[what]))])
    return { contender, ...Object.fromEntries(cells) }
  })
}

async function measure(url, folder) {
  const figures = { browsers: {}, sizes: { wasm: brotli(local('../../wasm/listwatch.wasm')), ...weigh(folder) } }
  for (const name of browsers) {
    const found = figures.browsers[name] = await times(name, url, rounds, timed)
    print(`${name}, medians of ${rounds} rounds`, tabulate(found))
  }
  if (browsers.includes('chrome') && !check) { // Firefox cannot measure memory
    print('chrome: memory with 10,000 Pods in MB (the page, its workers and WebAssembly)', Object.entries(await memories('chrome', url, held))
      .map(([contender, { came, read, shared }]) =>
        ({ contender, 'after the list': came, 'after reading each Pod': read, 'in the SharedWorker': shared })))
  }
  if (!check) {
    figures.node = await inNode(url, rounds)
    print(`node, medians of ${rounds} rounds`, tabulate(figures.node))
  }
  return figures
}

const folder = project(local('page'))
let server
try {
  mkdirSync(join(folder, 'public/assets'), { recursive: true })
  execFileSync('go', ['run', './internal/tools/wasmbuild', 'bench/browser/empty', join(folder, 'public/assets/empty.wasm')], { cwd: local('../..'), stdio: 'inherit' })
  build(folder)
  server = spawn(program, [join(folder, 'dist')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = String((await once(server.stdout, 'data'))[0]).trim()
  const figures = await measure(url, folder)
  const verdicts = judge(figures)
  progress('')
  print('the budgets', verdicts.map((row) => ({ ...row, figure: String(row.figure) }))) // print() would round numbers to one decimal
  console.log(`system load: ${loadavg().map((load) => load.toFixed(1)).join(', ')}`)
  if (write) publish('browser', results(figures))
  if (check && verdicts.some(({ met }) => met !== 'yes')) process.exitCode = 1
} finally {
  server?.kill()
  rmSync(folder, { recursive: true })
}
