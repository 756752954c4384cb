// Lists the Pods of the server in process.argv[2] and then closes the collection, after which the process must exit.
// With a second argument, the list fails, and the collection is closed before the next attempt.
import { listWatch } from '../index.js'

const pods = listWatch({ server: process.argv[2], resource: 'pods' })
if (process.argv[3]) {
  await new Promise((resolve) => pods.subscribe(() => pods.state.phase === 'interrupted' && resolve()))
  console.log(pods.state.cause.code)
} else {
  for await (const change of pods) {
    console.log(change.key, pods.state.phase)
    if (pods.state.phase === 'live') break
  }
}
pods.close()
