// Runs a Go program or test binary in Node with the glue: go test -exec="node wasm/exec.mjs". LISTWATCH_SERVE names a
// server program to start first, because Go code in WebAssembly cannot listen on a port. The server must print its URL, which
// the tests read from LISTWATCH_WIRE.
import { execFileSync, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { glue } from './glue.js'

const ON_DEMAND = '--experimental-websocket'
if (typeof WebSocket === 'undefined' && !process.execArgv.includes(ON_DEMAND)) { // Node 20 needs this flag
  const again = spawn(process.execPath, [ON_DEMAND, ...process.argv.slice(1)], { stdio: 'inherit' })
  process.exit((await once(again, 'exit'))[0] ?? 1)
}

// wasm_exec.js expects these global variables. Go's own wrapper for Node sets them, too.
const require = createRequire(import.meta.url)
Object.assign(globalThis, { require, fs, path })
const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
require(path.join(root, 'lib/wasm/wasm_exec.js'))

const env = { TMPDIR: os.tmpdir(), ...process.env }
let server
if (env.LISTWATCH_SERVE) {
  // The server exits at the end of its input, so it cannot survive this process.
  server = spawn(env.LISTWATCH_SERVE, { stdio: ['pipe', 'pipe', 'inherit'] })
  server.unref() // does not keep this process alive
  env.LISTWATCH_WIRE = String((await once(server.stdout, 'data'))[0]).trim()
}

const go = new Go()
go.argv = process.argv.slice(2)
go.env = env
go.exit = (code) => {
  server?.kill()
  process.exit(code)
}
glue(go)
const { instance } = await WebAssembly.instantiate(fs.readFileSync(process.argv[2]), go.importObject)
process.on('exit', (code) => {
  if (code === 0 && !go.exited) { // all goroutines are blocked, so this makes Go report the deadlock
    go._pendingEvent = { id: 0 }
    go._resume()
  }
})
await go.run(instance)
