// Reads the CPU times of browser processes from /proc.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return '' // the process has ended
    throw error
  }
}

/** Returns the IDs of a process and all of its descendants. */
function descendants(pid) {
  const children = new Map() // process IDs by parent
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    // The line starts with: PID (NAME) STATE PARENT. The name can contain spaces and parentheses.
    const parent = Number(/\) \S (\d+)/.exec(read(`/proc/${name}/stat`))?.[1])
    children.set(parent, [...children.get(parent) ?? [], Number(name)])
  }
  const all = [pid]
  for (const each of all) all.push(...children.get(each) ?? [])
  return all
}

/** Matches the command line of a process that renders pages, in Chromium or Firefox. Zero bytes separate the arguments. */
const runsPages = /--type=renderer|-contentproc\b[^]*\btab\0*$/

/**
 * Returns the CPU time in ms that the main threads of all pages of a browser have used. Returns NaN on systems other
 * than Linux.
 * @param {number} pid the process ID of the browser
 */
export function mainThreads(pid) {
  if (process.platform !== 'linux') return NaN
  const pages = descendants(pid).filter((page) => runsPages.test(read(`/proc/${page}/cmdline`)))
  // The ID of a process is also that of its main thread. The first number in schedstat is the CPU time in nanoseconds.
  const nanoseconds = pages.map((page) => Number(read(`/proc/${page}/task/${page}/schedstat`).split(' ')[0]))
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6
}

/** Returns the CPU time in ticks of 10 ms that all threads of a browser have used. */
function ticks(pid) {
  const times = descendants(pid).map((each) => read(`/proc/${each}/stat`).split(') ')[1]?.split(' '))
  // The fields are utime and stime of proc(5).
  return times.reduce((sum, fields) => sum + (fields ? Number(fields[11]) + Number(fields[12]) : 0), 0)
}

/**
 * Waits until a browser uses almost no CPU time for 300 ms, because Chromium loads pages of its own user interface for
 * about a second after a window opens. On systems other than Linux, `idle` waits for 30 steps of 100 ms.
 * @param {number} pid the process ID of the browser
 * @param {(pid: number) => number} measure returns the CPU time that the browser has used, in ticks
 * @param {() => Promise<void>} step waits for 100 ms
 */
export async function idle(pid, measure = process.platform === 'linux' ? ticks : () => NaN, step = () => setTimeout(100)) {
  for (let before = measure(pid), quiet = 0, steps = 0; quiet < 3; steps++) {
    if (steps === 300) throw new Error('the browser was still busy after 30 s; run the benchmark on an idle machine')
    if (steps === 30 && Number.isNaN(before)) return
    await step()
    const now = measure(pid)
    quiet = now - before <= 1 ? quiet + 1 : 0 // NaN never counts as quiet
    before = now
  }
}
