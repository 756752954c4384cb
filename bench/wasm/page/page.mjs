// Runs one task from the server in this page, sends the result to the server, and reloads the page.
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
