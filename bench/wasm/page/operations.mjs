// Runs the operations of operations/operations.go in plain JavaScript with Maps.
const OBJECTS = 10_000, NODES = 100

let version = 0

const newObjects = (shift) => Array.from({ length: OBJECTS }, (_, i) => ({
  namespace: `namespace-${i % 1000}`, name: `some-workload-5d8f9c7b6d-${i}`,
  node: `node-${(i + shift) % NODES}`, version: String(++version),
}))

function newStore() {
  const objects = new Map(), nodes = new Map()
  const at = (node) => {
    let there = nodes.get(node)
    if (!there) nodes.set(node, there = new Map())
    return there
  }
  return {
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    list: (node) => [...nodes.get(node)?.values() ?? []],
    put(object) {
      const key = `${object.namespace}/${object.name}`
      const old = objects.get(key)
      if (old?.version === object.version) return
      objects.set(key, object)
      if (old && old.node !== object.node) at(old.node).delete(key)
      at(object.node).set(key, object)
    },
  }
}

export async function operate(passes, { began, ended }) {
  const timed = (work, run) => {
    began()
    run()
    ended(work)
  }
  for (let pass = 0; pass < passes; pass++) {
    const objects = newObjects(0), versions = newObjects(0), moved = newObjects(1)
    const order = shuffled()
    const store = newStore()
    for (const object of objects) store.put(object)
    timed('get', () => {
      for (const i of order) {
        if (!store.get(objects[i].namespace, objects[i].name)) throw new Error('an object is missing')
      }
    })
    timed('index lookup, per object found', () => {
      for (let i = 0; i < NODES; i++) {
        if (store.list(`node-${i}`).length !== OBJECTS / NODES) throw new Error('the index does not return all objects')
      }
    })
    timed('update', () => order.forEach((i) => store.put(versions[i])))
    timed('update that changes an index', () => order.forEach((i) => store.put(moved[i])))
  }
}

function shuffled() {
  const order = Array.from({ length: OBJECTS }, (_, i) => i)
  let seed = 1
  for (let i = OBJECTS - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    const j = Math.floor(seed / 2 ** 32 * (i + 1))
    ;[order[i], order[j]] = [order[j], order[i]]
  }
  return order
}
