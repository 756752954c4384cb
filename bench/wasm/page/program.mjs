// Runs the wasm program with what the package's glue gives it, and the stopwatch.
import { glue } from '../../../wasm/glue.js'

export async function instantiate(code, course, passes, watch) {
  const go = new globalThis.Go()
  const text = (pointer, length) => new TextDecoder().decode(new Uint8Array(go._inst.exports.mem.buffer, pointer, length))
  glue(go)
  go.importObject.bench = {
    course: () => course,
    passes: () => passes,
    began: watch.began,
    ended: (pointer, length) => watch.ended(text(pointer, length)),
    tell: (pointer, length, value) => watch.tell(text(pointer, length), value),
  }
  const failed = new Promise((_, reject) => {
    go.exit = (code) => code && reject(new Error(`the program ended with ${code}`))
  })
  const { instance } = await WebAssembly.instantiate(code, go.importObject)
  const memory = () => instance.exports.mem.buffer.byteLength
  const before = memory()
  await Promise.race([go.run(instance), failed])
  watch.tell('memory', memory() - before)
}
