// Creates Vite projects that use the packed package.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export const wasm = fileURLToPath(new URL('../../wasm', import.meta.url))

/**
 * Creates a project from e2e/browser/vite and other folders, and installs the package. Returns the path of the project,
 * which the caller must remove.
 */
export function project(...more) {
  const folder = mkdtempSync(join(tmpdir(), 'listwatch-vite-'))
  const npm = (...args) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  for (const from of [fileURLToPath(new URL('vite', import.meta.url)), ...more]) {
    cpSync(from, folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  }
  npm('ci')
  npm('install', '--no-save', pack(folder))
  return folder
}

/** Packs the package into a folder and returns the path of the tarball. The files of the package must be built. */
export function pack(folder) {
  const text = execFileSync('npm', ['pack', wasm, '--ignore-scripts', '--json'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return join(folder, JSON.parse(text)[0].filename)
}

/** Returns the path of a project's Vite program. */
export const vite = (folder) => join(folder, 'node_modules/vite/bin/vite.js')

export function build(folder, ...args) {
  execFileSync(process.execPath, [vite(folder), 'build', ...args, '--logLevel', 'warn'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
}

/**
 * Builds a page that imports only the package. Returns the sizes in bytes, minified and gzipped: `page` for the page's
 * initial scripts, `worker` for the worker's script, and `local` for the script for mode "main".
 */
export function weigh(folder) {
  build(folder, '--config', 'size.config.js')
  const sizes = { page: 0, worker: 0, local: 0 }, assets = join(folder, 'weighed/assets')
  for (const file of readdirSync(assets).filter((file) => file.endsWith('.js'))) {
    const name = file.replace(/-.*/, '')
    sizes[name in sizes ? name : 'page'] += gzipSync(readFileSync(join(assets, file)), { level: 9 }).length
  }
  return sizes
}
