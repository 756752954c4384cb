// An API server whose answers tests choose. It serves one collection. Unlike the server of support.mjs, it can be rebuilt
// on the same port with other resourceVersions, and another server can answer instead.
import { once } from 'node:events'
import { createServer } from 'node:http'

export class ApiServer {
  #server
  #port = 0
  /** @type {Set<import('node:http').ServerResponse>} the open watches */
  #watches = new Set()
  /** The requests since the last start, for example "list", "check" and "watch 7". */
  requests = []

  /**
   * @param {string} path the path of the collection
   * @param {(request: URL) => [status: number, body: object] | undefined} [instead] answers some requests instead
   */
  constructor(path, instead = () => undefined) {
    this.path = path
    this.instead = instead
    this.rebuild({ kind: 'Pod', version: 1, names: [] })
  }

  get url() { return `http://127.0.0.1:${this.#port}` }

  /** Replaces all objects and their history. */
  rebuild({ kind = this.kind, version, names }) {
    this.kind = kind
    this.version = version
    this.objects = names.map((name) => ({ metadata: { namespace: 'default', name, uid: `${name} ${version}`, resourceVersion: String(version) } }))
  }

  async start() {
    this.requests = []
    this.#server = createServer((request, response) => this.#answer(new URL(request.url, this.url), response)).listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = this.#server.address().port
  }

  async stop() {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    this.#watches.clear()
    await closed
  }

  async restart() {
    await this.stop()
    await this.start()
  }

  /** Creates an object and sends its event to all watches. */
  create(name) {
    this.version++
    const object = { apiVersion: this.#apiVersion, kind: this.kind, metadata: { namespace: 'default', name, uid: `${name} ${this.version}`, resourceVersion: String(this.version) } }
    this.objects.push(object)
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
  }

  get #apiVersion() { return this.path.replace(/^\/apis?\/(.*)\/.*/, '$1') }

  /** @param {URL} url @param {import('node:http').ServerResponse} response */
  #answer(url, response) {
    const watch = url.searchParams.get('watch') === '1', [status, body] = this.instead(url) ?? [200, watch ? undefined : this.#list(url)]
    this.requests.push(watch ? `watch ${url.searchParams.get('resourceVersion')}` : url.searchParams.get('limit') === '1' ? 'check' : url.pathname === this.path ? 'list' : url.pathname)
    response.writeHead(status, { 'Content-Type': 'application/json' })
    if (body) return response.end(JSON.stringify(body))
    response.flushHeaders() // a watch from any resourceVersion is accepted and stays silent, like a watch from the future
    this.#watches.add(response)
    response.on('close', () => this.#watches.delete(response))
  }

  #list(url) {
    const all = { kind: `${this.kind}List`, apiVersion: this.#apiVersion, metadata: { resourceVersion: String(this.version) } }
    if (url.pathname !== this.path) return { kind: 'APIResourceList', apiVersion: 'v1', resources: [{ name: this.path.split('/').at(-1), kind: this.kind }] }
    return { ...all, items: url.searchParams.get('limit') === '1' ? this.objects.slice(0, 1) : this.objects }
  }
}

/**
 * The ways in which the resourceVersions and objects of a rebuilt server differ from version 1000 with the objects a and b.
 */
export const REBUILT = {
  'lower resourceVersions': { version: 7, names: ['c'] },
  'higher, unrelated resourceVersions': { version: 5000, names: ['c'] },
  'the same objects with other UIDs': { version: 5000, names: ['a', 'b'] },
  'lower resourceVersions and no objects': { version: 7, names: [] },
  'higher resourceVersions and no objects': { version: 5000, names: [] },
}
