// Runs a task in Node and reports the result to the server. Usage: node node.mjs ORIGIN WASM_EXEC TASK
import { createRequire } from 'node:module'
import { report } from './report.mjs'

const [origin, wasmExec, task] = process.argv.slice(2)
createRequire(import.meta.url)(wasmExec) // defines globalThis.Go
await report(origin, JSON.parse(task))
