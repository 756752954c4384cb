// What is measured, in a page. Each course is run by run.mjs in a page of its own, with one of the contenders.

import { plain } from './plain.js'

/** Follow the Pods of a server; `seen` is called with the number of each batch of changes. */
const contenders = {
  plain,
  shared: (server, seen) => listwatch(server, seen, 'shared'),
  worker: (server, seen) => listwatch(server, seen, 'worker'),
  main: (server, seen) => listwatch(server, seen, 'main'),
  projected: (server, seen) => listwatch(server, seen, 'main', ['status.phase', 'spec.nodeName', 'metadata.creationTimestamp']),
}

async function listwatch(server, seen, mode, project) {
  const { init, listWatch } = await import('./listwatch/index.js')
  await init({ mode })
  const pods = listWatch({ server, resource: 'pods', transport: 'http', project })
  pods.subscribe((changes) => seen(changes.filter((change) => !change.initial)))
  await pods.synced
  return { size: () => pods.size, touch: () => pods.list().reduce((n, item) => n + item.object.metadata.name.length, 0) }
}

const order = (events, period) => fetch(`/order?events=${events}&period=${period}`, { method: 'POST' })
const server = (pods) => `${location.origin}/n/${pods}`

globalThis.courses = {
  /** Milliseconds from nothing to 1,000 Pods. */
  async sync(contender) {
    const began = performance.now()
    const pods = await contenders[contender](server(1000), () => {})
    const took = performance.now() - began
    if (pods.size() !== 1000) throw new Error(`${pods.size()} Pods`)
    return took
  },

  /** Bytes of the page and its workers with 10,000 Pods, as they come and with each of them read; they stay in `held`. */
  async hold(contender) {
    globalThis.held = await contenders[contender](server(10000), () => {})
    if (held.size() !== 10000) throw new Error(`${held.size()} Pods`)
  },
  touch: () => held.touch(),

  /** The longest time, in milliseconds, for which the page's thread did nothing else, at 1,000 changes a second. */
  async block(contender) {
    const counter = count()
    await contenders[contender](server(1000), counter.add)
    await counter.quiet()
    const blocks = watchBlocks()
    await order(5000, '1ms')
    await counter.reach(5000)
    return blocks.end()
  },

  /** Milliseconds for a burst of 10,000 changes, and the longest block in it; and for another, in code that is compiled by then. */
  async burst(contender) {
    const counter = count()
    await contenders[contender](server(1000), counter.add)
    await counter.quiet()
    const bursts = []
    for (const until of [10000, 20000]) {
      const blocks = watchBlocks()
      const began = performance.now()
      await order(10000, '0s')
      await counter.reach(until)
      bursts.push(performance.now() - began, blocks.end())
      await counter.quiet()
    }
    const [took, block, again, blockAgain] = bursts
    return { took, block, again, blockAgain }
  },
}

function count() {
  let n = 0, newest = 0n, check = () => {}
  const until = (done) => new Promise((resolve) => {
    check = () => done() && resolve()
    check()
  })
  return {
    add(changes) {
      n += changes.length
      for (const { object } of changes) { // as whoever draws would read it
        const version = BigInt(object.metadata.resourceVersion)
        if (version > newest) newest = version
      }
      check()
    },
    reach: (wanted) => until(() => newest >= (1n << 40n) + BigInt(wanted)),
    quiet: () => new Promise((resolve) => setTimeout(resolve, 500)),
  }
}

// A message to oneself comes back at once, unless the thread is held.
function watchBlocks() {
  let longest = 0, last = performance.now(), going = true
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) port2.postMessage(0)
  }
  port2.postMessage(0)
  return {
    end() {
      going = false
      return longest
    },
  }
}
