// Defines the contenders in a page. A contender loads its code and returns a function (server, seen) that watches the Pods
// of a server. The function reads each changed object and passes its resourceVersion to `seen`. When the list is
// complete, it resolves with {size, list, touch}: list() returns the sorted Pods, and touch() reads each Pod.
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
}
