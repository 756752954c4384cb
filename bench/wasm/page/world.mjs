// One task, in Node, in a page or in a worker: a course for a contender, with what a server would send.
import { instantiate } from './program.mjs'
import { plain } from './plain.mjs'

const CHUNK = 64 << 10 // as browsers hand over a body

export const COURSES = ['decode', 'store', 'list', 'hold', 'operate'] // program/main.go has the same

/**
 * @param task {program, course, data, passes}: the name of a wasm program, none for plain JavaScript; what the server has of
 * that name
 * @returns {{figures, told}} by figure the milliseconds of each pass, and in Node those of the processor; what was told
 */
export async function run(origin, { program, course, data, passes }) {
  const watch = stopwatch()
  const real = globalThis.fetch
  const code = program && new Uint8Array(await (await real(`${origin}/${program}`)).arrayBuffer())
  if (data) {
    const chunks = cut(new Uint8Array(await (await real(`${origin}/${data}`)).arrayBuffer()))
    globalThis.fetch = async () => response(chunks)
  }
  await (program ? instantiate(code, COURSES.indexOf(course), passes, watch) : plain[course](passes, watch))
  return watch.result
}

function cut(bytes) {
  const chunks = []
  for (let at = 0; at < bytes.length; at += CHUNK) chunks.push(bytes.slice(at, at + CHUNK))
  return chunks
}

/** What fetch gives, as far as it is used here, with all that is to come at hand. */
function response(chunks) {
  let next = 0
  const read = async () => (next < chunks.length ? { done: false, value: chunks[next++] } : { done: true })
  return { status: 200, headers: new Headers(), body: { getReader: () => ({ read }) } }
}

function stopwatch() {
  const result = { figures: {}, told: {} }
  const processor = () => {
    const { user, system } = globalThis.process?.cpuUsage?.() ?? { user: 0, system: 0 }
    return (user + system) / 1000
  }
  let clock, used
  return {
    result,
    began() {
      used = processor()
      clock = performance.now()
    },
    ended(figure) {
      const ms = performance.now() - clock
      ;(result.figures[figure] ??= []).push({ ms, processor: processor() - used })
    },
    tell(name, value) {
      result.told[name] = value
    },
  }
}
