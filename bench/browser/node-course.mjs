// Runs one measurement with one contender in Node and prints the result as JSON. Usage: node --expose-gc
// node-course.mjs URL CONTENDER COURSE
import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { linear } from './linear.mjs'
import { makeCourses } from './page/courses.js'
import { ours } from './page/ours.js'
import { plain } from './page/plain.js'

const contenders = {
  plain: async () => plain,
  async listwatch() {
    const module = await import('../../wasm/index.js')
    return (server, seen) => ours(module, {}, server, seen)
  },
  async 'client-node'() {
    const module = createRequire(new URL('../../e2e/clients/node/informer.mjs', import.meta.url)).resolve('@kubernetes/client-node')
    const { KubeConfig, CoreV1Api, makeInformer } = await import(pathToFileURL(module))
    return async (server, seen) => {
      const config = new KubeConfig()
      // The client requires this setting for a server without TLS.
      config.loadFromClusterAndUser({ name: 'server', server, skipTLSVerify: true }, { name: 'user' })
      const core = config.makeApiClient(CoreV1Api)
      const informer = makeInformer(config, '/api/v1/pods', () => core.listPodForAllNamespaces())
      informer.on('change', (pod) => seen(Number(pod.metadata.resourceVersion)))
      informer.on('error', (error) => { throw error })
      await informer.start() // resolves when the list is complete
      return {
        size: () => informer.list().length,
        touch: () => informer.list().reduce((n, pod) => n + pod.metadata.name.length, 0),
      }
    }
  },
}

const [url, contender, course] = process.argv.slice(2)
const courses = makeCourses(url, contenders)
let result = await courses[course](contender)
if (course === 'load') {
  courses.touch() // parses listwatch's objects, because the other contenders parse all objects anyway
  for (let i = 0; i < 5; i++) { // a single garbage collection frees only a part of the garbage
    gc()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  const session = new Session()
  session.connect()
  const memories = await linear((method, params) => session.post(method, params))
  result = { ...result, rss: rss / 1e6, heap: (heapUsed + arrayBuffers) / 1e6 + memories }
}
console.log(JSON.stringify(result))
process.exit() // otherwise, the open watch would keep the process alive
