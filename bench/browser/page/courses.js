// Defines the measurements for pages and for Node. Each measurement runs with one contender in a new page or process.
import { watchBlocks } from './blocks.js'

const quiet = () => new Promise((resolve) => setTimeout(resolve, 500))

export const makeCourses = (origin, contenders) => {
  const order = (events, period) => fetch(`${origin}/order?events=${events}&period=${period}`, { method: 'POST' })
  const follow = async (contender, pods, seen = () => {}) => (await contenders[contender]())(`${origin}/n/${pods}`, seen)

  return {
    /**
     * Measures the time in ms until the list of 1,000 Pods is complete, including and excluding the time to load the
     * contender's code.
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
     * Loads the code and 10,000 Pods, and keeps the Pods in memory. It measures the time in ms and the number of long
     * tasks.
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
     * Receives 5,000 events in five seconds, after `load`, and reads the sorted list after each batch of events. It
     * measures the number of long tasks.
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
      await order(5000, '1ms')
      await counter.reach(5000)
      const { long } = blocks.end()
      if (lists < 10) throw new Error(`the list was read only ${lists} times`)
      return { tableTasks: long }
    },

    /** Reads each Pod that `load` has kept in memory. */
    touch: () => globalThis.pods.touch(),

    /**
     * Measures the duration of a burst of 10,000 changes and the longest block of the thread in ms. It then measures a
     * second burst, for which the engine has already compiled the code.
     */
    async burst(contender) {
      const counter = count()
      await follow(contender, 1000, counter.seen)
      const bursts = []
      for (const until of [10000, 20000]) {
        await quiet()
        const blocks = watchBlocks()
        const began = performance.now()
        await order(10000, '0s')
        await counter.reach(until)
        bursts.push(performance.now() - began, blocks.end().longest)
      }
      const [burst, burstBlock, again, againBlock] = bursts
      return { burst, burstBlock, again, againBlock }
    },
  }
}

// Counts the changes that follow the list. Their resourceVersions are above 1<<40.
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
