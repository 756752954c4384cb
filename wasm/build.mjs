// Makes what is not in the repository: the program, and Go's wasm_exec.js as a module that leaves nothing in the page's
// global scope. Run by make wasm.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()

// The script adds to globalThis what a browser lacks, and defines Go there. It is given a scope of its own in its place,
// with what the program looks for.
const script = readFileSync(join(root, 'lib/wasm/wasm_exec.js'), 'utf8')
writeFileSync(join(here, 'go.js'), `// Made by build.mjs from wasm_exec.js of Go, which has this licence: https://go.dev/LICENSE
const real = globalThis
export function makeGo() {
  const { Object, Array, Uint8Array, Date, Error, TypeError, crypto, performance, TextEncoder, TextDecoder } = real
  const globalThis = { Object, Array, Uint8Array, Date, Error, TypeError, crypto, performance, TextEncoder, TextDecoder }
  const fs = { writeSync: (...args) => globalThis.fs.writeSync(...args) };
${script.replace('"use strict";', '')}
  return globalThis.Go
}
`)

execFileSync('go', ['build', '-trimpath', '-ldflags=-s -w -buildid=', '-o', join(here, 'listwatch.wasm'), '.'],
  { cwd: here, env: { ...process.env, GOOS: 'js', GOARCH: 'wasm' }, stdio: 'inherit' })
