// Provides simulated hosts and an embedded server for tests.
import { ADDED, LIVE, RESET, SYNCED, encode } from '../records.js'
import { Collection } from '../collection.js'
import { specOf } from '../spec.js'
import { Stage } from '../../e2e/browser/stage.mjs'

export const fields = (name, version, { values = [], sum = 'sum', uid = `uid-${name}`, object = { metadata: { name } } } = {}) =>
  [`default/${name}`, String(version), uid, String(version), sum, ...values, JSON.stringify(object)]

export const first = (...records) => [[RESET], ...records, [SYNCED, '9'], [LIVE, '9']]
export const added = (name, version, more) => [ADDED, ...fields(name, version, more)]

/** Returns a collection and its simulated host. `host.send` sends records to the collection. */
export function withFakeHost(options = {}) {
  const host = { ended: 0 }
  host.open = (spec, client) => {
    host.send = (...records) => client.records(encode(records))
    host.client = client
    return () => { host.ended++ }
  }
  const { spec, token } = specOf({ server: 'http://127.0.0.1:1', resource: 'pods', ...options })
  const collection = new Collection(spec, token, options, async () => host)
  return { collection, host, opened: new Promise((resolve) => setImmediate(resolve)) }
}

const { setTimeout } = globalThis // tests may mock the global function
const LONGEST = 100_000 // maximum waiting time in ms, for a busy machine; shorter than node's --test-timeout, so that the error names the condition

/**
 * Waits until `holds` returns true. After LONGEST, it rejects with an error that contains the source of `holds`. It returns how
 * long it has waited in ms, without the time during which a busy machine did not run this process.
 */
export async function until(holds) {
  let waited = 0
  for (let last = performance.now(), deadline = last + LONGEST; !await holds();) {
    if (last > deadline) throw new Error(`still false after ${LONGEST / 1000} s: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const now = performance.now()
    waited += Math.min(now - last, 100)
    last = now
  }
  return waited
}

/**
 * Starts an embedded server. `command(name, options)` runs a command of internal/testkit/stage/cluster.go.
 */
export async function serve(options = {}) {
  const stage = await Stage.start()
  const cluster = await stage.cluster({ ...options, quiet: true })
  return {
    url: cluster.url,
    command(name, options) { return cluster[name](options) },
    put(resource, object) { return cluster.put({ of: resource, object }) },
    pod(name, spec = {}) { return this.put('pods', { metadata: { name }, spec }) },
    deletePod(space, name) { return cluster.delete({ of: 'pods', space, name }) },
    close() { stage.stop() },
  }
}
