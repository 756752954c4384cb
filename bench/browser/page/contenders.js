// Who follows Pods. Each loads its code, and returns how to follow those of a server: `told` is called with the version of
// every change, after its object was read; what comes back, once the Pods are there, has size() and touch(), which reads each.
import { clientgo, load } from './clientgo.js'
import { ours } from './ours.js'
import { plain } from './plain.js'

const listwatch = (mode, project) => async () => {
  const module = await import('listwatch')
  return (server, told) => ours(module, { init: { mode }, project }, server, told)
}

const fields = ['status.phase', 'spec.nodeName', 'metadata.creationTimestamp']

export const contenders = {
  empty: async () => async () => ({ size: () => 0, touch: () => 0 }), // a page that does nothing
  plain: async () => plain,
  shared: listwatch('shared'),
  worker: listwatch('worker'),
  main: listwatch('main'),
  projected: listwatch('shared', fields),
  'client-go': async () => {
    await load()
    return clientgo
  },
  'client-go, worker': async () => clientgoInWorker,
}

// The worker tells the versions that it saw.
function clientgoInWorker(server, told) {
  const worker = new Worker(new URL('clientgo-worker.js', import.meta.url), { type: 'module' })
  return new Promise((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.onmessage = ({ data }) => {
      if (data.version) told(data.version)
      else resolve({ size: () => data.size, touch: () => 0 })
    }
    worker.postMessage(server)
  })
}
