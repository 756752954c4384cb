// Lists the Pods of the server in process.argv[2] and closes the collection. The process must then exit. With a second
// argument, the program waits for the first interruption instead of the list.
import { listWatch } from '../index.js'

const pods = listWatch({ server: process.argv[2], resource: 'pods' })
if (process.argv[3]) {
  await new Promise((resolve) => pods.subscribe(() => pods.state.cause && resolve()))
  console.log(pods.state.cause.code)
} else {
  for await (const change of pods) {
    console.log(change.key)
    break
  }
  if (pods.state.phase !== 'live') await new Promise((resolve) => pods.subscribe(() => pods.state.phase === 'live' && resolve()))
}
pods.close()
