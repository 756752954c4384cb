// Runs one task of the server in this page, and reloads the page.
import { run } from './world.mjs'

const ask = globalThis.fetch // run replaces it
const task = await (await ask('/task')).json()
let result
try {
  result = await run(location.origin, task)
} catch (error) {
  result = { error: String(error) }
}
await ask('/result', { method: 'POST', body: JSON.stringify(result) })
location.reload()
