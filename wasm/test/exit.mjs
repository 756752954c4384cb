// Follows the Pods of the server at process.argv[2] until they are there, and closes: then nothing keeps the process alive.
// With a second argument it never gets that far, and closes while it waits for the next try.
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
