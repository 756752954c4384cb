// Requests a task from the server, runs it, reports the result, and reloads the page for the next task.
import { run } from './world.mjs'

const ask = globalThis.fetch // run() replaces globalThis.fetch
const task = await (await ask('/task')).json()
let result
try {
  result = await run(location.origin, task)
} catch (error) {
  result = { error: String(error) }
}
await ask('/result', { method: 'POST', body: JSON.stringify(result) })
location.reload()
