// Reads the CPU times of browser processes from /proc.
import { readFileSync, readdirSync } from 'node:fs'

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
  const children = new Map()
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = Number(/\) \S (\d+)/.exec(read(`/proc/${name}/stat`))?.[1])
    children.set(parent, [...children.get(parent) ?? [], Number(name)])
  }
  const all = [pid]
  for (const each of all) all.push(...children.get(each) ?? [])
  return all
}

/** Matches the command line of a process that renders pages, in Chromium or Firefox. */
const runsPages = /--type=renderer|-contentproc\b[^]*\btab\0*$/

/**
 * Returns the CPU time in ms that the main threads of all pages of a browser have used. Returns NaN on systems other
 * than Linux.
 * @param {number} pid the process ID of the browser
 */
export function mainThreads(pid) {
  if (process.platform !== 'linux') return NaN
  const pages = descendants(pid).filter((page) => runsPages.test(read(`/proc/${page}/cmdline`)))
  const nanoseconds = pages.map((page) => Number(read(`/proc/${page}/task/${page}/schedstat`).split(' ')[0]))
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6
}
