// The package as a tarball, installed into a fresh Vite project: what users have.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export const wasm = fileURLToPath(new URL('../../wasm', import.meta.url))

/** Returns the folder of the project, made of e2e/browser/vite and of more files; the caller removes it. */
export function project(...more) {
  const folder = mkdtempSync(join(tmpdir(), 'listwatch-vite-'))
  const npm = (...args) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  for (const from of [fileURLToPath(new URL('vite', import.meta.url)), ...more]) {
    cpSync(from, folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  }
  npm('ci')
  const [{ filename }] = JSON.parse(npm('pack', wasm, '--ignore-scripts', '--json')) // the program is there already
  npm('install', '--no-save', filename)
  return folder
}

/** What runs Vite in a project. */
export const vite = (folder) => join(folder, 'node_modules/vite/bin/vite.js')

export function build(folder, ...args) {
  execFileSync(process.execPath, [vite(folder), 'build', ...args, '--logLevel', 'warn'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Builds a page with the package and nothing else; returns the bytes, minified and gzipped, of each of its scripts. */
export function weigh(folder) {
  build(folder, '--config', 'size.config.js')
  const assets = join(folder, 'weighed/assets')
  const scripts = readdirSync(assets).filter((file) => file.endsWith('.js'))
  return Object.fromEntries(scripts.map((file) => [file.replace(/-.*/, ''), gzipSync(readFileSync(join(assets, file)), { level: 9 }).length]))
}
