import '/wasm_exec.js'
import { run } from './world.mjs'

onmessage = async ({ data: task }) => {
  try {
    postMessage(await run(location.origin, task))
  } catch (error) {
    postMessage({ error: String(error) })
  }
}
