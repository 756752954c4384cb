// Tests applications that use listwatch/testing in Vitest and Jest. They install the package as a tarball.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { wasm } from './project.mjs'

let folder

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'listwatch-testing-'))
  cpSync(fileURLToPath(new URL('testing', import.meta.url)), folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  const npm = (...args) => execFileSync('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  npm('ci', '--ignore-scripts')
  const [{ filename }] = JSON.parse(npm('pack', wasm, '--ignore-scripts', '--json')) // the files of the package are already built
  npm('install', '--no-save', filename)
})
after(() => folder && rmSync(folder, { recursive: true }))

// Runs Node in the application and returns the output.
function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, CI: 'true', NO_COLOR: '1' } })
  assert.equal(status, 0, stdout + stderr)
  return stdout + stderr
}

test('components that use a simulated cluster pass their tests in Vitest', () => {
  assert.match(run('node_modules/vitest/vitest.mjs', 'run'), /Tests +3 passed/)
})

test('components that use a simulated cluster pass their tests in Jest', () => {
  assert.match(run('node_modules/jest/bin/jest.js'), /Tests: +3 passed/)
})

test('CommonJS code can load the WASM module in Node', () => {
  assert.match(run('-e', "require('listwatch').init().then(() => { console.log('loaded'); process.exit() })"), /loaded/)
})
