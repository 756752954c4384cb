// Defines the measurements in pages and in Node. Each measurement runs in a new page or process, except for `table` and
// `touch`, which use the Pods of `load`. The measurements share these Pods in global variables.
import { watchBlocks } from './blocks.js'
import { empty } from './empty.js'

// Waits for the remaining work of a step, so that it counts as part of this step and not of the next one.
const quiet = () => new Promise((resolve) => setTimeout(resolve, 500))

// Returns the measurements as functions by name. `origin` is the URL of the server in main.go. contenders.js describes
// `contenders`.
export const makeCourses = (origin, contenders) => {
  const order = (pods, events, period) => fetch(`${origin}/n/${pods}/order?events=${events}&period=${period}`, { method: 'POST' })
  const follow = async (contender, pods, seen = () => {}) => (await contenders[contender]())(`${origin}/n/${pods}`, seen)

  return {
    /**
     * Measures the time in ms until a list of 1,000 Pods is complete. `nothing` includes the time to load the
     * contender's code, and `synced` does not.
     */
    async sync(contender) {
      const began = performance.now()
      const start = await contenders[contender]()
      const loaded = performance.now()
      const pods = await start(`${origin}/n/1000`, () => {})
      const ended = performance.now()
      if (pods.size() !== 1000) throw new Error(`${pods.size()} Pods`)
      return { nothing: ended - began, synced: ended - loaded }
    },

    /**
     * Measures the time in ms until an empty Go program runs in a SharedWorker. The package cannot start faster.
     */
    async empty() {
      const began = performance.now()
      await empty()
      return { synced: performance.now() - began }
    },

    /**
     * Loads a contender and 10,000 Pods, which stay in memory. Measures the time in ms and the number of long tasks.
     */
    async load(contender) {
      const blocks = watchBlocks()
      const began = performance.now()
      const counter = globalThis.counter = count()
      globalThis.pods = await follow(contender, 10000, (version) => {
        counter.seen(version)
        globalThis.changed?.()
      })
      const ready = performance.now() - began
      if (pods.size() !== 10000) throw new Error(`${pods.size()} Pods`)
      await quiet()
      return { ready, loadTasks: blocks.end().long }
    },

    /**
     * Receives 5,000 events in five seconds. Like a user interface, it reads the sorted list before the next frame, once for
     * all events since the last frame. Measures the number of long tasks. `load` must run first.
     */
    async table() {
      let due = false, lists = 0
      globalThis.changed = () => {
        if (due) return
        due = true
        requestAnimationFrame(() => {
          due = false
          lists++
          if (pods.list().length !== 10000) throw new Error('the list is incomplete')
        })
      }
      const blocks = watchBlocks()
      await order(10000, 5000, '1ms')
      await counter.reach(5000)
      const { long } = blocks.end()
      if (lists < 10) throw new Error(`the list was read only ${lists} times`)
      return { tableTasks: long }
    },

    /** Reads each Pod that `load` has loaded. */
    touch: () => globalThis.pods.touch(),

    /**
     * Measures a burst of 10,000 changes: how long it takes, and how long it blocks the thread at most, in ms. A second
     * burst measures the code after the browser has compiled it.
     */
    async burst(contender) {
      const counter = count()
      await follow(contender, 1000, counter.seen)
      const bursts = []
      for (const until of [10000, 20000]) {
        await quiet()
        const blocks = watchBlocks()
        const began = performance.now()
        await order(1000, 10000, '0s')
        await counter.reach(until)
        bursts.push(performance.now() - began, blocks.end().longest)
      }
      const [burst, burstBlock, again, againBlock] = bursts
      return { burst, burstBlock, again, againBlock }
    },
  }
}

// Returns a counter of changes. The resourceVersion of change n after the list is 2 ** 40 + n, which is `First` + n in
// bench/internal/serve. It compares resourceVersions instead of counting calls, because a contender may merge changes.
function count() {
  let newest = 0, wanted = Infinity, done
  return {
    seen(version) {
      if (version > newest) newest = version
      if (newest >= wanted) done?.()
    },
    reach: (events) => new Promise((resolve) => {
      done = resolve
      wanted = 2 ** 40 + events
      if (newest >= wanted) done()
    }),
  }
}
