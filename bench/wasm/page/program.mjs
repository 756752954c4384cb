// Runs the WASM module with the glue code of the package. It calls `watch.began` and `watch.ended` in each pass.
import { glue } from '../../../wasm/glue.js'

export async function instantiate(code, course, passes, watch) {
  const go = new globalThis.Go()
  glue(go)
  go.importObject.bench = { course: () => course, passes: () => passes, began: watch.began, ended: watch.ended }
  // After a panic, go.run() resolves as usual. Only go.exit() receives the exit code.
  const failed = new Promise((_, reject) => {
    go.exit = (code) => code && reject(new Error(`the program exited with code ${code}`))
  })
  const { instance } = await WebAssembly.instantiate(code, go.importObject)
  await Promise.race([go.run(instance), failed])
}
