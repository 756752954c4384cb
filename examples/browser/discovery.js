// Which collections a server has.

const FORM = (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

/**
 * Asks a server for its collections that can be listed and watched: each `{ group, version, plural, kind, namespaced,
 * shortNames }`, of each the version that the server prefers. Rejects with an Error that has `status`, if there was one.
 */
export async function discover({ server, token }) {
  const documents = await Promise.all(['api', 'apis'].map((path) => read(`${server}/${path}`, token)))
  const found = new Map()
  for (const { metadata = {}, versions = [] } of documents.flatMap(({ items = [] }) => items)) {
    for (const { version, resources = [] } of versions) {
      for (const resource of resources) {
        const { resource: plural, verbs = [], scope, responseKind, shortNames = [] } = resource
        const group = metadata.name ?? '', name = `${group}/${plural}`
        if (found.has(name) || !verbs.includes('list') || !verbs.includes('watch')) continue
        found.set(name, { group, version, plural, kind: responseKind?.kind || plural, namespaced: scope === 'Namespaced', shortNames })
      }
    }
  }
  return [...found.values()]
}

// One form at a time: an Accept of more than 128 characters would need the server's leave by CORS, which it does not give.
async function read(url, token) {
  for (const version of ['v2', 'v2beta1']) {
    const headers = { Accept: FORM(version) }
    if (token) headers.Authorization = `Bearer ${token}`
    const response = await fetch(url, { headers, cache: 'no-cache' })
    if (response.status === 406) continue
    if (!response.ok) throw await refusal(response)
    const document = await response.json().catch(() => ({}))
    if (document.kind === 'APIGroupDiscoveryList') return document
  }
  throw new Error(`${url} tells no collections: it is no Kubernetes API server of version 1.26 or later`)
}

async function refusal(response) {
  const { message } = await response.json().catch(() => ({}))
  return Object.assign(new Error(message || `the server answered ${response.status}`), { status: response.status })
}

const FIRST = 'pods deployments nodes events services configmaps secrets jobs namespaces'.split(' ')

/** Groups collections by API group for a menu; those that are looked at most come first. */
export function menu(resources) {
  const groups = new Map()
  for (const resource of resources) {
    const built = /^(apps|batch|autoscaling|policy|events\.k8s\.io)?$/.test(resource.group) || resource.group.endsWith('.k8s.io')
    const group = FIRST.includes(resource.plural) && ['', 'apps', 'batch'].includes(resource.group) ? 'Often used' : built ? 'Kubernetes' : resource.group
    groups.set(group, [...groups.get(group) ?? [], resource])
  }
  const rank = (name) => (name === 'Often used' ? 0 : name === 'Kubernetes' ? 2 : 1)
  const often = (r) => FIRST.indexOf(r.plural)
  return [...groups].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)).map(([name, members]) => ({
    name,
    members: members.sort((a, b) => (name === 'Often used' ? often(a) - often(b) : a.plural < b.plural ? -1 : 1)),
  }))
}

/** "ConfigMap" becomes "Config Maps" for headings; plurals are the server's where English is odd. */
export function titleOf({ kind, plural }) {
  const words = kind.replace(/([a-z])([A-Z])/g, '$1 $2')
  const tail = plural.toLowerCase().startsWith(kind.toLowerCase()) ? plural.slice(kind.length) : null
  if (tail !== null) return words + tail
  return /y$/.test(kind) && /ies$/.test(plural) ? words.replace(/y$/, 'ies') : words
}
