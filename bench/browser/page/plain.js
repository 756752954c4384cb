// Watches Pods without a library. It parses the list and each line of the watch, and keeps the objects in a Map.

export async function plain(server, seen) {
  const items = new Map()
  const key = ({ metadata }) => `${metadata.namespace}/${metadata.name}`
  const list = await (await fetch(`${server}/api/v1/pods`)).json()
  for (const item of list.items) items.set(key(item), item)
  follow(`${server}/api/v1/pods?watch=1&resourceVersion=${list.metadata.resourceVersion}`, ({ type, object }) => {
    if (type === 'DELETED') items.delete(key(object))
    else items.set(key(object), object)
    seen(Number(object.metadata.resourceVersion))
  })
  return {
    size: () => items.size,
    list: () => [...items.keys()].sort().map((each) => items.get(each)),
    touch: () => [...items.values()].reduce((n, item) => n + item.metadata.name.length, 0),
  }
}

async function follow(url, event) {
  const reader = (await fetch(url)).body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop()
    for (const line of lines) event(JSON.parse(line))
  }
}
