// Tests an application that uses the packed package, in Vitest and Jest. The application also contains the recipes of
// docs/react.md.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pack, wasm } from './project.mjs'

let folder

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'listwatch-testing-'))
  cpSync(fileURLToPath(new URL('testing', import.meta.url)), folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  const npm = (...args) => execFileSync('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  npm('ci', '--ignore-scripts')
  npm('install', '--no-save', pack(folder))
  writeFileSync(join(folder, 'pods.jest.js'), commonJS(readFileSync(join(folder, 'pods.vitest.mjs'), 'utf8')))
  const page = readFileSync(new URL('../../docs/react.md', import.meta.url), 'utf8')
  writeFileSync(join(folder, 'recipes.tsx'), [...page.matchAll(/```tsx\n([^]*?)```/g)].map(([, block]) => block).join('\n'))
})
after(() => folder && rmSync(folder, { recursive: true }))

// Converts Vitest tests in an ES module to Jest tests in a CommonJS module.
function commonJS(code) {
  return 'const vi = jest\n' + code.replace(/^import .* from 'vitest'\n/m, '')
    .replace(/^import \{ (.*) \} from ('.*')$/gm, (_, names, module) => `const { ${names.replaceAll(' as ', ': ')} } = require(${module})`)
}

// Runs Node in the application and returns the output.
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, CI: 'true', NO_COLOR: '1' } })
  assert.equal(status, 0, stdout + stderr)
  return stdout + stderr
}

test('components that use a simulated cluster, and the recipes in docs/react.md, pass their tests in Vitest', () => {
  assert.match(run('node_modules/vitest/vitest.mjs', 'run'), /Tests +8 passed/)
})

test('components that use a simulated cluster pass their tests in Jest', () => {
  assert.match(run('node_modules/jest/bin/jest.js'), /Tests: +3 passed/)
})

test('the OpenShift hooks have the types of the plugin SDK', () => {
  run(join(wasm, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', 'openshift.ts')
})

test('CommonJS code can load the WASM module in Node', () => {
  assert.match(run('-e', "require('listwatch').init().then(() => { console.log('loaded'); process.exit() })"), /loaded/)
})
