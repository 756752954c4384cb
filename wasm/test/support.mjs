// Helpers for tests: simulated hosts and the embedded server.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ADDED, LIVE, RESET, SYNCED, encode } from '../records.js'
import { Collection } from '../collection.js'
import { specOf } from '../spec.js'

export const fields = (name, version, { values = [], sum = 'sum', uid = `uid-${name}`, object = { metadata: { name } } } = {}) =>
  [`default/${name}`, String(version), uid, String(version), sum, ...values, JSON.stringify(object)]

export const first = (...records) => [[RESET], ...records, [SYNCED, '9'], [LIVE, '9']]
export const added = (name, version, more) => [ADDED, ...fields(name, version, more)]

/** Returns a collection and its host, which sends the records that the test chooses. */
export function withFakeHost(options = {}) {
  const host = { ended: 0 }
  host.open = (spec, client) => {
    host.send = (...records) => client.records(encode(records))
    host.client = client
    return () => { host.ended++ }
  }
  const { spec, token } = specOf({ server: 'http://127.0.0.1:1', resource: 'pods', ...options })
  const collection = new Collection(spec, token, options.signal, async () => host)
  return { collection, host, opened: new Promise((resolve) => setImmediate(resolve)) }
}

const { setTimeout } = globalThis // a test may replace it with a mock
const LONGEST = 30_000 // in ms, for each condition

/** Waits until a condition holds. It rejects with the source of the condition after LONGEST. */
export async function until(holds) {
  for (const deadline = performance.now() + LONGEST; !await holds(); await new Promise((resolve) => setTimeout(resolve, 5))) {
    if (performance.now() > deadline) throw new Error(`still false after ${LONGEST / 1000} s: ${holds}`)
  }
}

/** Starts the embedded server and returns its controls. `do(command)` sends a command and returns the response. */
export async function serve(...args) {
  const server = spawn(fileURLToPath(new URL('../../bin/wasm-serve', import.meta.url)), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const line = async () => (await lines.next()).value
  let turn = Promise.resolve()
  return {
    url: await line(),
    do(command) {
      return turn = turn.then(() => {
        server.stdin.write(command + '\n')
        return line()
      })
    },
    put(resource, object) { return this.do(`put ${resource} ${JSON.stringify(object)}`) },
    pod(name, spec = {}) { return this.put('pods', { metadata: { name }, spec }) },
    async close() {
      server.stdin.end()
      await new Promise((resolve) => server.once('exit', resolve))
    },
  }
}
