// Runs a Go test binary in a page of Chromium: go test -exec="node e2e/browser/gotest.mjs". It forwards the output and
// the exit code. LISTWATCH_SERVE has the same meaning as for wasm/exec.mjs.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
const files = {
  '/': [path.join(here, 'page/gotest.html'), 'text/html'],
  '/gotest.js': [path.join(here, 'page/gotest.js'), 'text/javascript'],
  '/wasm_exec.js': [path.join(root, 'lib/wasm/wasm_exec.js'), 'text/javascript'],
  '/test.wasm': [process.argv[2], 'application/wasm'],
}
for (const module of ['glue', 'later', 'streams', 'websocket']) { // the page imports glue.js, which imports the others
  files[`/${module}.js`] = [path.join(here, `../../wasm/${module}.js`), 'text/javascript']
}
const server = http.createServer(({ url }, answer) => {
  const [file, type] = files[url] ?? []
  if (!file) return answer.writeHead(404).end()
  answer.writeHead(200, { 'Content-Type': type }).end(readFileSync(file))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const wire = spawn(process.env.LISTWATCH_SERVE, { stdio: ['pipe', 'pipe', 'inherit'] })
const env = { LISTWATCH_WIRE: String((await once(wire.stdout, 'data'))[0]).trim() }
// A page has no environment. The tests need only these two variables.
if (process.env.LISTWATCH_CI) env.LISTWATCH_CI = process.env.LISTWATCH_CI

const browser = await launch('chrome')
let code = 1, report // reports that the browser exited during the test
const lost = () => report(new Error('the browser exited'))
try {
  const page = await browser.newPage()
  const exited = new Promise((resolve, reject) => {
    page.exposeFunction('exited', resolve)
    page.on('pageerror', reject)
    page.on('error', reject)
    report = reject
    browser.on('disconnected', lost)
  })
  await page.exposeFunction('printed', (text) => void process.stdout.write(text))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await page.evaluate((argv, env) => void globalThis.run(argv, env), ['test', ...process.argv.slice(3)], env)
  code = await exited
} finally {
  browser.off('disconnected', lost)
  await browser.close()
  wire.kill()
  server.close()
}
process.exitCode = code
