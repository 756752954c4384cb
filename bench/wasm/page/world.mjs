// Runs one task in Node or in a page. It replaces fetch with responses from memory.
import { instantiate } from './program.mjs'
import { plain } from './plain.mjs'

const CHUNK = 64 << 10 // bytes per chunk of a response body, as in browsers

export const COURSES = ['decode', 'store', 'list', 'operate'] // in the order of `courses` in program/main.go

/**
 * @param task {program, course, data, passes}. `program` is the file of a WASM module, or empty for plain JavaScript. `data` is the file of the response.
 * @returns {{figures}} the wall time of each pass in milliseconds by figure
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

/** Returns a minimal fetch Response with the given chunks as its body. */
function response(chunks) {
  let next = 0
  const read = async () => (next < chunks.length ? { done: false, value: chunks[next++] } : { done: true })
  return { status: 200, headers: new Headers(), body: { getReader: () => ({ read }) } }
}

function stopwatch() {
  const result = { figures: {} }
  let clock
  return {
    result,
    began() {
      clock = performance.now()
    },
    ended(figure) {
      const ms = performance.now() - clock
      ;(result.figures[figure] ??= []).push(ms)
    },
  }
}
