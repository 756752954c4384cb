// Takes the screenshot of lwcat for the README. It shows the Pods of the demo while their resourceVersions expire.
// Usage: make screenshots
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { launch } from './launch.mjs'
import { until } from './stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url)), modules = fileURLToPath(new URL('node_modules', import.meta.url))
const picture = `${root}docs/images/lwcat.png`
const COLUMNS = 124, ROWS = 18, MOST = 200_000 // maximum size of the screenshot in bytes
const COURSE = 32, EVERY = COURSE / 4 // duration of the demo and interval of its failures, in seconds; every second failure causes a relist

const folder = mkdtempSync(`${tmpdir()}/listwatch-`)
const demo = spawn('bin/demo', ['-duration', `${COURSE}s`], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
let printed = ''
for (const out of [demo.stdout, demo.stderr]) out.on('data', (text) => { printed += text })
let said
try {
  const [, server] = await until('the server', () => /API server at (http\S+)\.\s/.exec(printed))
  await until('the first failure', () => printed.includes('resuming'))
  await new Promise((resolve) => setTimeout(resolve, (EVERY - 4) * 1000)) // until four seconds before the next failure
  said = await session(server, 'lwcat -A pods --watch-only')
} finally {
  demo.kill()
  rmSync(folder, { recursive: true })
}
const browser = await launch('chrome')
try {
  await draw(await browser.newPage(), `$ lwcat -A pods --watch-only\r\n${said}`)
} finally {
  await browser.close()
}

// Runs a command in a terminal and returns its output, which ends a few lines after a relist.
async function session(server, command) {
  writeFileSync(`${folder}/config`, JSON.stringify({ 'current-context': 'demo', contexts: [{ name: 'demo', context: { cluster: 'demo' } }],
    clusters: [{ name: 'demo', cluster: { server } }] }))
  const env = { ...process.env, TERM: 'xterm-256color', KUBECONFIG: `${folder}/config`, PATH: `${root}bin:${process.env.PATH}` }
  delete env.NO_COLOR
  // The command script runs lwcat in a pseudoterminal, so that lwcat prints colors and fits its lines to the width.
  const terminal = spawn('script', ['-qfc', `stty cols ${COLUMNS} rows ${ROWS}; exec ${command}`, '/dev/null'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  terminal.stdout.on('data', (text) => { said += text })
  try {
    await until('a relist', () => rowsOf(said) >= ROWS && /relisted at/.test(said), 30)
  } catch (error) {
    throw new Error(`${error.message}:\n${said}`)
  } finally {
    terminal.kill()
  }
  const lines = said.split('\r\n')
  while (rowsOf(lines.join('\r\n')) > ROWS - 1) lines.pop() // the first row shows the command
  assert.match(lines.join('\n'), /relisted at/, 'the terminal output ended before the relist; run make screenshots again')
  return lines.join('\r\n')
}

// Returns the number of rows that a terminal needs for the text, because it wraps long lines.
function rowsOf(text) {
  const lengths = stripVTControlCharacters(text).split('\r\n').map((line) => line.length)
  return lengths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / COLUMNS)), 0)
}

// Saves a screenshot of a terminal emulator that shows the text.
async function draw(page, text) {
  await page.setViewport({ width: 1160, height: 600 })
  await page.setContent('<body style="margin:0;background:#16181d"><div id="terminal" style="display:inline-block;padding:14px"></div>')
  await page.addStyleTag({ path: `${modules}/@xterm/xterm/css/xterm.css` })
  await page.addScriptTag({ path: `${modules}/@xterm/xterm/lib/xterm.js` })
  await page.evaluate((text, cols, rows) => new Promise((resolve) => {
    const terminal = new globalThis.Terminal({ cols, rows, fontSize: 14, fontFamily: 'monospace', cursorStyle: 'bar', theme: { background: '#16181d' } })
    terminal.open(document.querySelector('#terminal'))
    terminal.write(text, () => requestAnimationFrame(() => requestAnimationFrame(resolve))) // xterm.js draws in a frame
  }), text, COLUMNS, ROWS)
  await (await page.$('#terminal')).screenshot({ path: picture })
  const { size } = statSync(picture)
  assert.ok(size <= MOST, `${picture} has ${size} bytes; the limit is ${MOST}`)
  console.log(`docs/images/lwcat.png: ${size} bytes`)
}
