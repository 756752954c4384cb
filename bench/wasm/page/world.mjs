// Runs one task in Node or in a page. It replaces fetch with responses from memory, so that neither a network nor a server
// affects the times.
import { instantiate } from './program.mjs'
import { plain } from './plain.mjs'

const CHUNK = 64 << 10 // bytes per chunk of a response body, as in browsers

export const COURSES = ['decode', 'list'] // in the order of `courses` in program/main.go

/**
 * @param task {program, course, passes}. `program` is the file of a WASM module, or empty for plain JavaScript.
 * @returns {{times}} the wall time of each pass in milliseconds
 */
export async function run(origin, { program, course, passes }) {
  const watch = stopwatch()
  const real = globalThis.fetch
  const read = async (file) => new Uint8Array(await (await real(`${origin}/${file}`)).arrayBuffer())
  const code = program && await read(program)
  const chunks = cut(await read(course))
  globalThis.fetch = async () => response(chunks) // never restored, because each page or process measures one task
  await (program ? instantiate(code, COURSES.indexOf(course), passes, watch) : plain[course](passes, watch))
  return { times: watch.times }
}

function cut(bytes) {
  const chunks = []
  for (let at = 0; at < bytes.length; at += CHUNK) chunks.push(bytes.slice(at, at + CHUNK))
  return chunks
}

/** Returns a minimal fetch Response with the given chunks as its body. */
function response(chunks) {
  let next = 0
  const read = async () => (next < chunks.length ? { done: false, value: chunks[next++] } : { done: true })
  return { status: 200, headers: new Headers(), body: { getReader: () => ({ read }) } }
}

function stopwatch() {
  const times = []
  let clock
  return {
    times,
    began() {
      clock = performance.now()
    },
    ended() {
      times.push(performance.now() - clock)
    },
  }
}
