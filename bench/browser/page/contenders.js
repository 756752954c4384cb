// Defines the contenders. A contender loads its code and returns a function (server, seen) that watches the Pods of a
// server. The function reads each changed object and passes its resourceVersion to `seen`. When the list is complete,
// it resolves with {size, list, touch}: list() returns the sorted Pods, and touch() reads each Pod. client-go has no
// list().
import { clientgo, load } from './clientgo.js'
import { ours } from './ours.js'
import { plain } from './plain.js'

const listwatch = (mode) => async () => {
  const module = await import('listwatch')
  return (server, seen) => ours(module, { init: { mode } }, server, seen)
}

export const contenders = {
  plain: async () => plain,
  shared: listwatch('shared'),
  worker: listwatch('worker'),
  main: listwatch('main'),
  'client-go': async () => {
    await load()
    return clientgo
  },
  'client-go, worker': async () => clientgoInWorker,
}

// Runs client-go in a worker. The worker posts the resourceVersion of each change.
function clientgoInWorker(server, seen) {
  const worker = new Worker(new URL('clientgo-worker.js', import.meta.url), { type: 'module' })
  return new Promise((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.onmessage = ({ data }) => {
      if (data.version) seen(data.version)
      else resolve({ size: () => data.size, touch: () => 0 })
    }
    worker.postMessage(server)
  })
}
