// Writes CommonJS copies (.cjs) of the entry points and of the modules that they load, and copies (.d.cts) of the entry
// points' declarations. Test runners such as Jest load the copies. A copy loads only other copies, so that no module is
// loaded twice. Run this script in this folder: node commonjs.mjs
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { transformSync } from 'esbuild'

// Jest's jsdom environment lacks classes that the package needs. It finds these two in Node. connect.js needs others,
// so a copy loads connect.js only when it is called, which tests that simulate a cluster never do.
const decoders = "const { TextDecoder, TextEncoder } = globalThis.TextDecoder ? globalThis : process.getBuiltinModule('node:util')\n"
const lazy = ["import { connect } from './connect.js'", "const connect = (...args) => require('./connect.js').connect(...args)"]
const url = "('file://' + __filename.replace(/[%#?]/g, encodeURIComponent))"

const entries = ['index', 'react', 'testing', 'openshift', 'glue']
const names = new Set(entries)
for (const name of names) { // includes the names that the loop adds
  const module = readFileSync(name + '.js', 'utf8')
  const source = module.replace(/^('use client'\n)?/, "$1'use strict'\n" + (module.includes('TextDecoder') ? decoders : ''))
    .replace(...lazy).replaceAll('import.meta.url', url)
  const { code } = transformSync(source, { format: 'cjs', platform: 'node', supported: { 'dynamic-import': false } })
  writeFileSync(name + '.cjs', code.replace(/require\("\.\/(\w+)\.js"\)/g, (_, next) => {
    names.add(next)
    return `require('./${next}.cjs')`
  }))
}
for (const name of entries) writeFileSync(name + '.d.cts', readFileSync(name + '.d.ts', 'utf8').replaceAll(".js'", ".cjs'"))
// Copies of modules that no longer exist must not be published.
for (const file of readdirSync('.')) if (file.endsWith('.cjs') && !names.has(file.slice(0, -4))) rmSync(file)
