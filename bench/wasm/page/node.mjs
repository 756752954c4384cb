// Runs a task in Node. Usage: node node.mjs ORIGIN WASM_EXEC TASK
import { createRequire } from 'node:module'
import { run } from './world.mjs'

const [origin, wasmExec, task] = process.argv.slice(2)
createRequire(import.meta.url)(wasmExec)
console.log(JSON.stringify(await run(origin, JSON.parse(task))))
