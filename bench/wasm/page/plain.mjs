// Runs the workloads of the Go program in plain JavaScript. The code does the same work as the Go packages: it drops
// managedFields, keeps an index by node, and rejects invalid events and truncated streams.

/** Objects by key, with an index by node. */
class Store {
  objects = new Map()
  nodes = new Map()

  put(object) {
    const { namespace, name, resourceVersion } = object.metadata
    const key = `${namespace}/${name}`
    const old = this.objects.get(key)
    if (old && old.metadata.resourceVersion === resourceVersion) return
    object.metadata.managedFields = undefined
    this.objects.set(key, object)
    const was = old?.spec.nodeName, is = object.spec.nodeName
    if (was !== undefined && was !== is) this.#leave(was, key)
    if (is === undefined) return
    let there = this.nodes.get(is)
    if (!there) this.nodes.set(is, there = new Map())
    there.set(key, object)
  }

  #leave(node, key) {
    const there = this.nodes.get(node)
    there.delete(key)
    if (!there.size) this.nodes.delete(node)
  }
}

/** Opens a watch and calls `each` with each event. */
async function events(each) {
  const reader = (await fetch('http://server/api/v1/pods?watch=1')).body.getReader()
  const decoder = new TextDecoder()
  let rest = '' // incomplete line at the end of a chunk
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    const text = decoder.decode(value, { stream: true })
    let start = 0, end
    while ((end = text.indexOf('\n', start)) >= 0) {
      each(JSON.parse(rest ? rest + text.slice(start, end) : text.slice(start, end)))
      rest = ''
      start = end + 1
    }
    rest += text.slice(start)
  }
  if (rest + decoder.decode()) throw new Error('the stream was truncated')
}

/** Requests the list and stores its objects. */
async function list(store) {
  const reader = (await fetch('http://server/api/v1/pods')).body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  for (const object of JSON.parse(text + decoder.decode()).items) store.put(object)
}

const checkType = (type) => {
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw new Error(`unexpected event type ${type}`)
}

let last // keeps the JavaScript engine from removing the parsing

export const plain = {
  async decode(passes, { began, ended }) {
    for (let i = 0; i < passes; i++) {
      began()
      await events(({ type, object }) => {
        checkType(type)
        last = object
      })
      ended()
    }
  },

  async list(passes, { began, ended }) {
    for (let i = 0; i < passes; i++) {
      const store = new Store()
      began()
      await list(store)
      ended()
    }
  },
}
