// Runs an HTTP/1.1 reverse proxy that serves the test pages and an API server from one origin. It counts watches and
// WebSockets, because a browser opens at most six HTTP/1.1 connections to a host, and watches must leave some of them free.
import http from 'node:http'
import net from 'node:net'
import { once } from 'node:events'

const PAGE = /^\/(page\.js|listwatch\/.*|ui\/.*)?$/

const AGE = 1000 // minimum age in ms of a watch that counts in `most`

/**
 * @param stage the URL that serves the pages
 * @param api the URL of the API server
 * @param sockets false rejects WebSocket handshakes
 * @param keeps true keeps responses open after the server has died, like the proxy of Vite without `configure`
 */
export async function front(stage, api, { sockets = true, keeps = false } = {}) {
  // Numbers of open watches over HTTP, of the most watches that were open at once, of open WebSockets, and of rejected ones.
  const seen = { watches: 0, most: 0, sockets: 0, refused: 0 }
  const server = http.createServer((request, response) => {
    const target = PAGE.test(request.url) ? stage : api
    if (new URL(request.url, api).searchParams.get('watch') === '1') count(response)
    const forward = http.request(new URL(request.url, target), { method: request.method, headers: { ...request.headers, host: new URL(target).host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers)
      response.flushHeaders() // a watch begins with its headers, which may come long before the first event
      answer.pipe(response)
      answer.on('error', () => keeps || response.destroy())
    })
    forward.on('error', () => {
      if (!keeps) response.destroy()
      else if (!response.headersSent) response.writeHead(500).end()
    })
    response.on('close', () => forward.destroy())
    request.pipe(forward)
  })
  const settled = new Set()
  const count = (response) => {
    seen.watches++
    // Young watches do not count, because they may replace a watch whose end the proxy has not noticed yet.
    const timer = setTimeout(() => setImmediate(() => { // after all pending events
      if (response.destroyed) return
      settled.add(response)
      seen.most = Math.max(seen.most, settled.size)
    }), AGE)
    response.on('close', () => {
      seen.watches--
      clearTimeout(timer)
      settled.delete(response)
    })
  }
  server.on('upgrade', (request, near, head) => {
    if (!sockets) {
      seen.refused++
      return near.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    }
    const { hostname, port, host } = new URL(api)
    const far = net.connect(port, hostname, () => {
      const headers = Object.entries({ ...request.headers, host }).map(([name, value]) => `${name}: ${value}\r\n`)
      far.write(`GET ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`)
      far.write(head)
      near.pipe(far).pipe(near)
    })
    seen.sockets++
    near.on('close', () => { seen.sockets-- })
    for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).on('close', () => other.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
