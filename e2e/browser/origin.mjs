// Tests a page that has the same origin as its API server.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import { extname, join } from 'node:path'
import { it } from 'node:test'
import { openPage } from './launch.mjs'
import { equal, follow } from './page.mjs'

const PAGES = new URL('page/', import.meta.url), PACKAGE = new URL('../../wasm/', import.meta.url)
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }

export function origin(scene) {
  it('a page at /app/index.html?x=1 uses its origin as the default server', () => scene.fresh(async (profile) => {
    const cluster = await scene.cluster()
    await cluster.write({ n: 20, seed: 1 })
    const app = await serve(cluster.url)
    try {
      const page = await openPage(profile)
      await page.goto(`${app.url}/app/index.html?x=1`)
      await page.waitForFunction('globalThis.stage', { polling: 20 })
      await page.evaluate(() => globalThis.stage.load())
      await follow(page, 'all', { transport: 'http' })
      await equal(cluster, page)
      await follow(page, 'relative', { transport: 'http', server: '/k8s' })
      await equal(cluster, page, 'relative')
    } finally {
      app.close()
    }
  }))
}

/**
 * Serves the files of a folder at / and the API server at /k8s/. `policy` is the content security policy of the files,
 * or "" for none.
 */
export async function serveApp(folder, api, policy) {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://app')
    if (pathname.startsWith('/k8s/')) return forward(api, request, response)
    const file = join(folder, decodeURIComponent(pathname === '/' ? '/index.html' : pathname))
    readFile(file).then((bytes) => {
      response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'text/plain', ...(policy && { 'Content-Security-Policy': policy }) }).end(bytes)
    }, (error) => response.writeHead(404).end(String(error)))
  })
  return listening(server)
}

/** Serves the test page at /app/, the package at /listwatch/, and the API server at / and /k8s/. */
async function serve(api) {
  const server = http.createServer((request, response) => {
    answer(api, request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  return listening(server)
}

/** Returns the URL of a server and a function that stops it. */
async function listening(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(api, request, response) {
  const { pathname } = new URL(request.url, 'http://app')
  const file = pathname.startsWith('/listwatch/') ? new URL(pathname.slice('/listwatch/'.length), PACKAGE)
    : /^\/(app\/index\.html|page\.js)$/.test(pathname) && new URL(pathname.replace(/^.*\//, ''), PAGES)
  if (file) {
    response.writeHead(200, { 'Content-Type': TYPES[extname(file.pathname)] }).end(await readFile(file))
    return
  }
  forward(api, request, response)
}

/** Forwards a request to the API server, and removes the prefix /k8s from the path. */
function forward(api, request, response) {
  const { pathname, search } = new URL(request.url, 'http://app')
  const far = http.request(api + pathname.replace(/^\/k8s\//, '/') + search, { headers: { accept: request.headers.accept } }, (got) => {
    response.writeHead(got.statusCode, got.headers)
    got.pipe(response)
  })
  far.on('error', (error) => response.destroy(error))
  response.on('close', () => far.destroy())
  far.end()
}
