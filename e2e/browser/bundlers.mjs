// Builds the page of wasm/README.md with each bundler in the README's table.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack, wasm } from './project.mjs'
import { until } from './stage.mjs'

const env = { ...process.env, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' }

/**
 * Returns the code blocks of a Markdown text as [language, file name, code]. A first line such as `// main.js` contains
 * the file name.
 */
const blocksOf = (text) => [...text.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, code]) => [language, code.match(/^\/\/ (\S+)\n/)?.[1], code])

/** Returns the start page, the table of bundlers and the code blocks of wasm/README.md. */
export function readTable() {
  const readme = readFileSync(join(wasm, 'README.md'), 'utf8')
  const blocks = new Map(readme.split(/^#+ /m).slice(1).map((section) => [section.match(/.*/)[0], blocksOf(section)]))
  const [table] = readme.match(/^\| Bundler \|[^]*?\n\n/m)
  const [, , ...rows] = table.trim().split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
  const titles = new Map([...blocks.keys()].map((title) => [title.toLowerCase().replaceAll(' ', '-'), title]))
  return {
    page: blocks.get('listwatch').find(([, name]) => name === 'main.js')[2],
    rows: rows.map(([name, version, lines]) => {
      const anchor = lines.match(/\(#([\w-]+)\)/)?.[1]
      assert.ok(anchor ? titles.has(anchor) : lines === 'none', `${name}: ${lines}`)
      return { name, version, blocks: anchor ? blocks.get(titles.get(anchor)) : [] }
    }),
    blocks,
  }
}

/** Returns the Vite configuration and the content security policy from docs/browser.md. */
export function readRecipes() {
  const text = readFileSync(fileURLToPath(new URL('../../docs/browser.md', import.meta.url)), 'utf8')
  const [, , vite] = blocksOf(text).find(([, name]) => name === 'vite.config.js')
  assert.ok(vite.includes("'http://127.0.0.1:8001'"))
  const policies = [...text.matchAll(/add_header Content-Security-Policy "(.*?)"/g)].map(([, policy]) => policy)
  assert.equal(new Set(policies).size, 1)
  return { vite: vite.replace("'http://127.0.0.1:8001'", 'process.env.SERVER'), policy: policies[0] }
}

/** Returns the code of the plugin in docs/react.md, and the files that headlamp-plugin copies to its folder. */
export function readPlugin() {
  const text = readFileSync(fileURLToPath(new URL('../../docs/react.md', import.meta.url)), 'utf8')
  const [[, , manifest], [, , code]] = blocksOf(text.split('## Headlamp plugins')[1])
  return { code, copied: Object.entries(JSON.parse(manifest).headlamp.extraDist) }
}

/** Copies the folder `from` and installs its bundlers. Returns the new folder and a function that creates apps in it. */
export function workshop(from) {
  const folder = mkdtempSync(join(tmpdir(), 'listwatch-bundlers-'))
  cpSync(fileURLToPath(new URL(from, import.meta.url)), folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
  // Without the flag, installation scripts would compile native code on some systems.
  execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const tarball = pack(folder)
  return { folder, app: (name, files) => new App(folder, join(folder, name), tarball, files) }
}

/** An application with its own copy of the package. The bundlers are installed in the parent folder. */
class App {
  constructor(root, folder, tarball, files) {
    Object.assign(this, { root, folder })
    const installed = join(folder, 'node_modules/listwatch')
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]) // has the same effect as npm install, because the package has no dependencies
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  }

  /** Returns the installed version of a package. */
  version(name) {
    return JSON.parse(readFileSync(join(this.root, 'node_modules', name, 'package.json'), 'utf8')).version
  }

  /** Runs a program of an installed package in the folder of the app. */
  run(program, ...args) {
    try {
      execFileSync(join(this.root, 'node_modules', program), args, { cwd: this.folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    } catch ({ message, stdout }) {
      assert.fail(`${message}\n${stdout}`)
    }
  }

  /** Runs Vite's development server while `f(url)` runs. */
  async serving(vite, api, f) {
    const server = spawn(process.execPath, [join(this.root, 'node_modules', vite), '--host', '127.0.0.1', '--port', '0'],
      { cwd: this.folder, env: { ...env, SERVER: api }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => { output += part })
    try {
      await f((await until('Vite\'s server', () => output.match(/http:\/\/127\.0\.0\.1:\d+/)))[0])
    } catch (error) {
      throw new Error(`${error.message}\n${output}`, { cause: error })
    } finally {
      if (server.kill()) await once(server, 'exit') // the server writes to the folder until it exits
    }
  }
}

const page = (script) => `<!doctype html><meta charset="utf-8"><body></body><script type="module" src="${script}"></script>\n`
const vite = (tool, name = `${tool}/bin/vite.js`) => ({
  tool, html: page('/main.js'), output: 'dist', vite: name, build: (app) => app.run(name, 'build', '--logLevel', 'warn'),
})

/**
 * Describes how to build an app, by the bundler's name in the table. `tool` is the bundler's npm package. `inline`
 * reports whether the page has inline scripts, which the policy of docs/browser.md forbids.
 */
export const BUNDLERS = {
  'No bundler': { html: page('/main.js'), output: '.', build() {}, inline: true },
  'Vite 5': vite('vite5'),
  'Vite 6': vite('vite6'),
  'Vite 7': vite('vite7'),
  'Vite 8': vite('vite8'),
  'webpack 5': { tool: 'webpack', html: page('/main.js'), output: 'dist', build: (app) => app.run('webpack-cli/bin/cli.js', '--mode', 'production', '--entry', './main.js') },
  'Parcel 2': { tool: 'parcel', html: page('main.js'), output: 'dist', build: (app) => app.run('parcel/lib/bin.js', 'build', 'index.html', '--no-cache'), inline: true },
  'Rollup 4': { tool: 'rollup', html: page('/main.js'), output: 'dist', build: (app) => app.run('rollup/dist/bin/rollup', '--config') },
  esbuild: { tool: 'esbuild', html: page('/main.js'), output: 'dist', build: (app, [, ...args]) => app.run('.bin/esbuild', ...args) },
}

/**
 * Returns the app's files for a row of the table. main.js contains the bundler's additional lines and the start page. In the
 * README, Rollup also needs the code from the section about esbuild, and "No bundler" has an import map for index.html.
 */
export function filesOf(row, { page, blocks }, config) {
  const { html } = BUNDLERS[row.name]
  const named = Object.fromEntries([...(row.name === 'Rollup 4' ? blocks.get('esbuild') : []), ...row.blocks].filter(([, name]) => name).map(([, name, code]) => [name, code]))
  const map = row.blocks.find(([language]) => language === 'html')?.[2] ?? ''
  return { 'vite.config.js': config, ...named, 'main.js': (named['main.js'] ?? '') + page, 'index.html': html.replace('<body>', `${map}<body>`) }
}

/** Returns the words of a row's command, without npx, or an empty array if the row has no command. */
export const commandOf = ({ blocks }) => blocks.find(([language]) => language === 'console')?.[2].replace(/^\$ npx /, '').trim().split(' ') ?? []
