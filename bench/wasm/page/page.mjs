// Runs the task in the query of the page's URL, and reports the result to the server.
import { run } from './world.mjs'

const ask = globalThis.fetch // run() replaces globalThis.fetch
let result
try {
  result = await run(location.origin, JSON.parse(decodeURIComponent(location.search.slice(1).replaceAll('+', ' '))))
} catch (error) {
  result = { error: String(error) }
}
await ask('/result', { method: 'POST', body: JSON.stringify(result) })
