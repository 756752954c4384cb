// Measures contenders in Node. Each measurement runs in a new process.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { orders, progress } from './print.mjs'

const program = fileURLToPath(new URL('node-course.mjs', import.meta.url))

async function run(url, contender, course) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--no-warnings', program, url, contender, course])
  return JSON.parse(stdout)
}

/** Returns an object {contender: {figure: milliseconds or MB}} for each round. */
export async function inNode(url, rounds) {
  const all = []
  for (const [i, order] of orders(['plain', 'listwatch', 'client-node'], rounds).entries()) {
    const found = {}
    for (const contender of order) {
      found[contender] = {}
      for (const course of ['sync', 'burst', 'load']) {
        progress(`node: round ${i + 1} of ${rounds}, ${contender}, ${course}`)
        Object.assign(found[contender], await run(url, contender, course))
      }
    }
    all.push(found)
  }
  return all
}
