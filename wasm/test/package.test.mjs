// Tests the types, exports and files of the package as users install it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, test } from 'node:test'
import ts from 'typescript'
import * as main from 'listwatch'
import * as glue from 'listwatch/glue'
import * as react from 'listwatch/react'
import * as openshift from 'listwatch/openshift'
import * as testing from 'listwatch/testing'
import { declarations } from '../declarations.mjs'
import { added, first, withFakeHost } from './support.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { exports, files, peerDependenciesMeta, ...manifest } = JSON.parse(readFileSync(root + 'package.json', 'utf8'))

// Collects the examples of Markdown files as virtual source files. The examples of a page form one module. Each example
// of a tutorial is a separate file, and so is each example that starts with a file name such as "// main.js".
const pages = (folder) => readdirSync(root + folder).filter((name) => name.endsWith('.md')).map((name) => folder + name)
const documents = ['README.md', '../README.md', ...pages('../docs/'), ...pages('../docs/tutorials/')]
const examples = new Map(documents.flatMap((file) => {
  const blocks = [...readFileSync(root + file, 'utf8').matchAll(/```(?:tsx?|js)\n([^]*?)```/g)].map(([, block]) => block)
  const isFile = (code) => file.includes('/tutorials/') || /^\/\/ \S+\.(js|tsx)\n/.test(code)
  const modules = [blocks.filter((code) => !isFile(code)).join('\n'), ...blocks.filter(isFile)]
  return modules.filter(Boolean).map((code, i) => [`${root}test/${file.replace(/\W/g, '_')}${i}.tsx`, code])
}))
// Declares the modules that the examples import and that are not installed.
const tools = ['vite', '@vitejs/plugin-react', '@rollup/plugin-node-resolve', '@rollup/plugin-url', '*?url', '@tanstack/react-table', '@tanstack/react-virtual',
  'oidc-client-ts', '@kinvolk/headlamp-plugin/lib']
examples.set(`${root}test/tools.d.ts`, tools.map((name) => `declare module '${name}'\n`).join(''))

// All sources and examples share one TypeScript program, because it takes seconds to load the declarations of
// TypeScript and React.
const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
const { fileNames, options: strict } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const options = { ...strict, jsx: ts.JsxEmit.Preserve, types: ['react'] }
const host = ts.createCompilerHost(options), { getSourceFile, fileExists } = host
host.fileExists = (name) => examples.has(name) || fileExists(name)
host.getSourceFile = (name, ...rest) => (examples.has(name) ? ts.createSourceFile(name, examples.get(name), ...rest) : getSourceFile(name, ...rest))
const program = ts.createProgram([...fileNames, ...examples.keys()], options, host)
const diagnostics = ts.getPreEmitDiagnostics(program)
const report = (some) => ts.formatDiagnostics(some, host)

test('the sources and the examples of test/types.ts pass the type checker', () => {
  assert.equal(report(diagnostics.filter(({ file }) => !examples.has(file?.fileName))), '')
  const sources = readdirSync(root).filter((name) => name.endsWith('.js') && !['go.js', 'listwatch.worker.js'].includes(name))
  for (const name of [...sources, 'test/types.ts']) assert.ok(program.getSourceFile(root + name), name)
})

test('the committed declarations are up to date', () => {
  for (const [name, text] of Object.entries(declarations())) {
    assert.equal(readFileSync(root + name, 'utf8'), text, `${name} is out of date: run "make declarations" and commit the result`)
  }
})

test('the examples in the READMEs and in docs/ compile', () => {
  for (const name of ['README_md0', '___README_md0']) assert.match(examples.get(`${root}test/${name}.tsx`), /listWatch<Pod>/)
  // Unused variables and untyped parameters are allowed.
  const unused = new Set([6133, 6196, 6198, 7006])
  assert.equal(report(diagnostics.filter(({ file, code }) => examples.has(file?.fileName) && !unused.has(code))), '')
})

// Returns the names of the values that a declaration file exports, and a function that returns the members of a type.
function declared(file) {
  const checker = program.getTypeChecker()
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(root + file)))
  const members = (name) => {
    const type = checker.getDeclaredTypeOfSymbol(symbols.find((symbol) => symbol.name === name))
    return checker.getPropertiesOfType(type).map(({ escapedName }) => String(escapedName).replace(/^__@(\w+)@.*/, '[$1]'))
  }
  return { values: symbols.filter(({ flags }) => flags & ts.SymbolFlags.Value).map(({ name }) => name), members }
}

// Returns the names of all members of an object, including inherited members.
function shown(object) {
  const names = new Set(Reflect.ownKeys(object))
  for (let at = Object.getPrototypeOf(object); at !== Object.prototype && at !== Error.prototype; at = Object.getPrototypeOf(at)) {
    Reflect.ownKeys(at).forEach((name) => names.add(name))
  }
  names.delete('constructor')
  return [...names].map((name) => (typeof name === 'symbol' ? `[${name.description.replace('Symbol.', '')}]` : name)).sort()
}

test('the exports match the type declarations', () => {
  assert.deepEqual(declared('index.d.ts').values.sort(), Object.keys(main).sort())
  assert.deepEqual(declared('react.d.ts').values.sort(), Object.keys(react).sort())
  assert.deepEqual(declared('testing.d.ts').values.sort(), Object.keys(testing).sort())
  assert.deepEqual(declared('openshift.d.ts').values.sort(), Object.keys(openshift).sort())
  assert.deepEqual(declared('glue.d.ts').values, Object.keys(glue))
})

test('the CommonJS copies export the same names and share one copy of the package', () => {
  const require = createRequire(import.meta.url)
  for (const [name, module] of Object.entries({ listwatch: main, 'listwatch/react': react, 'listwatch/testing': testing, 'listwatch/openshift': openshift, 'listwatch/glue': glue })) {
    assert.deepEqual(Object.keys(require(name)).sort(), Object.keys(module).sort(), name)
  }
  const { ListWatchError, listWatch } = require('listwatch')
  assert.notEqual(ListWatchError, main.ListWatchError)
  assert.throws(() => listWatch({}), ListWatchError)
})

test('a page loads listwatch/testing and listwatch/openshift only if it imports them', () => {
  const loaded = new Set()
  const follow = (file) => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const [, next] of readFileSync(root + file, 'utf8').matchAll(/^(?:im|ex)port .* from '\.\/([\w.]+)'/gm)) follow(next)
  }
  for (const file of ['index.js', 'react.js']) follow(file)
  assert.ok(loaded.has('mirror.js') && loaded.has('lists.js'))
  for (const file of ['testing.js', 'fake.js', 'matching.js', 'openshift.js', 'plural.js', 'resources.js']) assert.ok(!loaded.has(file), file)
})

test('the hooks are marked as client modules for frameworks with server components', () => {
  for (const name of ['react.js', 'react.cjs', 'openshift.js', 'openshift.cjs']) assert.match(readFileSync(root + name, 'utf8'), /^(['"])use client\1;?\n/)
})

test('the properties of exported objects match the type declarations', async () => {
  const { members } = declared('index.d.ts')
  const { collection, host, opened } = withFakeHost()
  await opened
  const changes = []
  const batch = new Promise((resolve) => collection.subscribe((all) => { changes.push(...all); resolve() }))
  host.send(...first(added('a', 1)))
  await batch
  for (const [name, object] of Object.entries({ ListWatch: collection, Snapshot: collection.getSnapshot(), Item: collection.item('default/a'), Change: changes[0] })) {
    assert.deepEqual(shown(object), members(name).sort(), name)
  }
  const state = members('State')
  for (const name of Object.keys(collection.state)) assert.ok(state.includes(name), name)
  const error = new main.ListWatchError('status', 'm', { status: 500, reason: 'r', cause: 1 })
  const properties = members('ListWatchError')
  for (const name of shown(error)) assert.ok(properties.includes(name), name)
})

test('the options match the type declarations', () => {
  const good = { server: 'http://host', resource: 'pods' }
  const known = [...readFileSync(root + 'spec.js', 'utf8').matchAll(/^ {2}(\w+): (?:STRING|BOOLEAN|DURATION|oneOf|\[)/gm)].map(([, name]) => name)
  const { members } = declared('index.d.ts')
  assert.deepEqual([...members('ListWatchOptions'), ...members('HookOptions')].sort(), known.sort())
  assert.throws(() => main.listWatch({ ...good, other: 1 }))
})

test('the error codes match the type declarations', () => {
  const declaration = readFileSync(root + 'index.d.ts', 'utf8').match(/type ErrorCode =([^]*?)\n\n/)[1]
  const codes = [...declaration.matchAll(/'([\w-]+)'/g)].map(([, code]) => code)
  const sources = ['collection.js', 'connect.js', 'engine.js', 'messages.js', 'spawn.js', 'spec.js', 'resources.js', 'mirror.js', 'lists.js', 'index.js'].map((file) => readFileSync(root + file, 'utf8')).join()
  const used = new Set([...sources.matchAll(/ListWatchError\('([\w-]+)'/g)].map(([, code]) => code))
  const goSources = readdirSync(root).filter((file) => /(?<!_test)\.go$/.test(file)).map((file) => readFileSync(root + file, 'utf8')).join()
  for (const [, code] of goSources.matchAll(/(?:lw\.Err\w+, |ErrUnsupported, |return |send\((?:interrupted|stopped), )"([a-z-]+)"/g)) used.add(code)
  assert.deepEqual([...used].sort(), codes.sort())
})

let folder, packed
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'listwatch-package-'))
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder] // the files are already built
  packed = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))[0]
})
after(() => rmSync(folder, { recursive: true }))

// CommonJS code imports neither the worker nor the WASM module.
for (const [tool, ...args] of [['publint', '--strict'], ['attw', '--profile', 'esm-only'], ['attw', '--profile', 'node16', '--exclude-entrypoints', 'worker', 'listwatch.wasm']]) {
  test(`${[tool, ...args].join(' ')} reports no problem in the package`, () => {
    const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', tool), [join(folder, packed.filename), ...args], { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  })
}

test('the package contains exactly the files that it needs', () => {
  const needed = new Set(['package.json', 'README.md', 'LICENSE', 'LICENSE-GO', 'listwatch.wasm'])
  const follow = (file) => {
    if (needed.has(file)) return
    needed.add(file)
    for (const [, next] of readFileSync(root + file, 'utf8').replace(/\/\*\*.*?\*\//gs, '')
      .matchAll(/(?:from |import\(|require\(|new URL\()'\.\/([\w.]+)'/g)) follow(next)
  }
  const followEntry = (entry) => (typeof entry === 'string' ? follow(entry.slice(2)) : Object.values(entry).forEach(followEntry))
  followEntry(exports)
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), [...needed].sort())
  for (const file of needed) assert.ok(existsSync(root + file), file)
  assert.deepEqual([manifest.type, manifest.license, manifest.sideEffects, manifest.types], ['module', 'Apache-2.0', ['./worker.js', './listwatch.worker.js'], './index.d.ts'])
  assert.deepEqual(peerDependenciesMeta, { react: { optional: true } })
  assert.equal(manifest.dependencies, undefined)
})

test('the single-file worker imports nothing and runs as a module and as a classic script', () => {
  const text = readFileSync(root + 'listwatch.worker.js', 'utf8')
  assert.doesNotMatch(text, /\bimport\b|\bexport\b/)
  assert.match(text, /^\/\*! .*Apache-2\.0.*LICENSE-GO \*\/\n/)
  new Function(text) // throws a SyntaxError unless the file is a classic script
})

test('package.json has the fields that npm displays, and tools can resolve the package', () => {
  for (const field of ['description', 'homepage', 'bugs', 'repository', 'keywords']) assert.ok(manifest[field]?.length !== 0 && manifest[field], field)
  assert.equal(import.meta.resolve('listwatch/package.json'), new URL('../package.json', import.meta.url).href)
})
