// Driver with which the conformance suite runs the npm package. Build the package first: make worker
import { readFileSync } from 'node:fs'
import { listWatch } from '../../wasm/index.js'

const [url, resource, namespace] = process.argv.slice(2)
// With a ws: URL, watches use WebSocket, and all other requests use HTTP at the same address.
const server = url.replace(/^ws:/, 'http:')
const transport = server === url ? 'auto' : 'ws'
const { version } = JSON.parse(readFileSync(new URL('../../wasm/package.json', import.meta.url)))
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
print({ type: 'CLIENT', version })

const collection = listWatch({ server, resource, namespace, transport })
let phase
// The loop below receives changed objects, but no change of the phase.
setInterval(() => {
  if (collection.state.phase === phase) return
  phase = collection.state.phase
  if (phase === 'live') print({ type: 'LIVE' })
  if (phase === 'stale') print({ type: 'STALE' })
}, 100)
for await (const { type, key, object } of collection) {
  const { resourceVersion, uid } = object.metadata
  print({ type: type.toUpperCase(), key, resourceVersion, uid })
}
