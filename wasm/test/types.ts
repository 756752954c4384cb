// tsc --strict checks this file, which is never run. It contains code that must compile and code that must not.
import { ListWatchError, init, listOptions, listWatch, wake } from 'listwatch'
import type { Change, ErrorCode, Item, KubernetesObject, ListWatch, ListWatchOptions, Phase, Snapshot, State } from 'listwatch'
import { glue } from 'listwatch/glue'
import { useListWatch, useListWatches, useObject } from 'listwatch/react'
import type { ListView } from 'listwatch/react'
import { fakeCluster } from 'listwatch/testing'

interface Pod extends KubernetesObject {
  spec: { nodeName?: string }
  status?: { phase: string }
}

const options: ListWatchOptions = {
  server: new URL('https://host'), resource: 'pods', namespace: 'shop', name: 'web-0', labelSelector: 'app=web',
  fieldSelector: 'spec.nodeName=n1', transport: 'auto', token: async () => 'secret', headers: { 'Impersonate-User': 'jane' },
  credentials: 'include', project: ['spec.nodeName'], indexes: { node: 'spec.nodeName' }, persist: true, streamingLists: false,
  signal: new AbortController().signal,
}
listWatch({ path: '/apis/example.com/v1/widgets', token: () => 'secret' })
listWatch({ server: '/k8s', resource: 'pods', token: 'secret' })
wake() satisfies void

async function all(pods: ListWatch<Pod>) {
  await pods.synced
  const node: string | undefined = pods.get('default/web-0')?.spec.nodeName
  // @ts-expect-error an object may be missing
  pods.get('default/web-0').spec
  const items: readonly Item<Pod>[] = pods.list()
  // @ts-expect-error a list never changes
  pods.list().push(items[0])
  // @ts-expect-error an item never changes
  items[0].key = 'x'
  // @ts-expect-error a Pod has no such field
  items[0]?.object.spec.replicas
  const found: readonly Item<Pod>[] = pods.by('node', 'n1')
  const size: number = pods.size
  for await (const change of pods) {
    const type: 'added' | 'modified' | 'deleted' = change.type
    const old: string | undefined = change.old?.spec.nodeName
    // @ts-expect-error an addition has no old object
    change.old.spec
    const flags: boolean[] = [change.initial, change.stale, change.finalStateUnknown]
    const item: Item<Pod> = change.item
    return { type, old, flags, item, key: change.key satisfies string, now: change.object.status?.phase }
  }
  const end: () => void = pods.subscribe((changes: readonly Change<Pod>[]) => changes.length)
  end()
  const snapshot: Snapshot<Pod> = pods.getSnapshot()
  const state: State = snapshot.state
  const phase: Phase = state.phase
  // @ts-expect-error there is no such phase
  if (phase === 'sleeping') return
  const progress: number | undefined = state.progress?.remaining
  const cause: ListWatchError | undefined = state.cause
  const unsaved: string | undefined = state.persistError?.message
  // @ts-expect-error a state is immutable
  state.phase = 'live'
  pods.close()
  return { node, found, size, progress, cause, unsaved, snapshot: snapshot.item('a')?.object.spec }
}

function failed(error: unknown) {
  if (!(error instanceof ListWatchError)) return
  const code: ErrorCode = error.code
  const status: number | undefined = error.status
  // @ts-expect-error there is no such code
  if (error.code === 'timeout') return
  return { code, status, retryable: error.retryable satisfies boolean, cause: error.cause, reason: error.reason }
}

const untyped: ListWatch = listWatch(options)
const labels: Record<string, string> | undefined = untyped.get('a')?.metadata?.labels
init() satisfies Promise<void>
init({ wasm: fetch('/listwatch.wasm'), mode: 'worker' })
// @ts-expect-error there is no such mode
init({ mode: 'thread' })
// @ts-expect-error there is no such option
listWatch({ resource: 'pods', namspace: 'shop' })
// @ts-expect-error an index is a path, not a function
listWatch({ resource: 'pods', indexes: { node: (pod: Pod) => pod.spec.nodeName } })
// @ts-expect-error there is no such transport
listWatch({ resource: 'pods', transport: 'sse' })
// @ts-expect-error options are required
listWatch()

const go = { importObject: {} }
glue(go, { ask: async (question) => question, emit: (id, bytes) => { bytes.at(id) } }) satisfies () => void
// @ts-expect-error an answer is a string, bytes or a lease
glue(go, { ask: () => 7 })

// The members of options may be undefined under exactOptionalPropertyTypes.
function Filtered({ namespace, node }: { namespace: string | undefined, node: string | undefined }) {
  listWatch({ resource: 'pods', namespace, fieldSelector: node && `spec.nodeName=${node}`, signal: undefined })
  return useListWatch({ resource: 'pods', namespace, namespaces: undefined, keepAlive: undefined, keepPrevious: undefined, token: undefined })
}

const typed = listOptions<Pod>()({ resource: 'pods', indexes: { node: 'spec.nodeName' } })
// @ts-expect-error there is no such option
listOptions<Pod>()({ resource: 'pods', namspace: 'shop' })
const kept = listOptions<Pod>()({ resource: 'pods', keepAlive: 60_000, keepPrevious: true, throttle: 500 })
listWatch(kept) satisfies ListWatch<Pod>
// @ts-expect-error a duration is a number
listOptions<Pod>()({ resource: 'pods', keepAlive: '60' })
fakeCluster().apply({ kind: 'Pod', metadata: { name: 'web-0' }, spec: { nodeName: 'n1' } })
fakeCluster().apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0' }, spec: {} }, { kind: 'Node', metadata: { name: 'n1' } }])
// @ts-expect-error a name is a string
fakeCluster().apply({ kind: 'Pod', metadata: { name: 7 } })
const running: ListWatch<Pod, 'node'> = listWatch(typed)
running.getSnapshot().by('node', 'n1')
// @ts-expect-error there is no such index
running.by('nod', 'n1')
// @ts-expect-error there is no such index
running.getSnapshot().by('nod', 'n1')
const general: ListWatch<Pod> = running
general.by('any name', 'n1')
// @ts-expect-error the options have no such index
listWatch({ resource: 'pods', indexes: { node: 'spec.nodeName', owner: 'metadata.ownerReferences[0].uid' } }).by('nod', 'n1')

function Pods({ node }: { node?: string }) {
  const list: ListView<Pod> = useListWatch<Pod>({ resource: 'pods', token: () => 'secret' })
  const snapshot: Snapshot<Pod> = list
  const nothing: Snapshot = useListWatch(node ? { resource: 'pods' } : null)
  const count: number = useListWatch({ resource: 'pods' }, (pods) => pods.size)
  const names: string[] = useListWatch<Pod, string[]>({ resource: 'pods' }, (pods) => pods.list().map(({ name }) => name),
    (a, b) => a.join() === b.join())
  // @ts-expect-error the component controls the lifetime, so there is no signal
  useListWatch({ resource: 'pods', signal: new AbortController().signal })
  // @ts-expect-error a selection has the type that its function returns
  const wrong: string = useListWatch({ resource: 'pods' }, (pods) => pods.size)
  return { snapshot, nothing, count, names, wrong }
}

function Selections() {
  const two: number = useListWatch<Pod, number>({ resource: 'pods' }, (pods) => pods.size)
  const annotated: number = useListWatch({ resource: 'pods' }, (pods: Snapshot<Pod>) => pods.size)
  const phase: string | undefined = useListWatch({ resource: 'pods' }, (pods: ListView<Pod>) => pods.items[0]?.object.status?.phase)
  const inferred: string[] = useListWatch(typed, (pods) => pods.items.map(({ object }) => object.spec.nodeName ?? ''))
  const indexed: number = useListWatch({ resource: 'pods', indexes: { node: 'spec.nodeName' } }, (pods) => pods.by('node', 'n1').length)
  // @ts-expect-error with an explicit object type, TypeScript cannot infer the type of the selection, which must not be unknown
  useListWatch<Pod>({ resource: 'pods' }, (pods) => pods.size)
  // @ts-expect-error the options have no such index
  useListWatch(typed, (pods) => pods.by('nod', 'n1'))
  return [two, annotated, phase, inferred, indexed]
}

function Lists() {
  const { items, loaded, error, errors, state } = useListWatch<Pod>({ resource: 'pods', namespaces: ['a', 'b'], keepAlive: 0, keepPrevious: true })
  const pods: readonly Item<Pod>[] = items
  const failed: ListWatchError | undefined = errors['a'] ?? error
  const flags: boolean[] = [loaded, state.synced, state.phase === 'live']
  const inline = useListWatch({ resource: 'pods', indexes: { node: 'spec.nodeName' } })
  inline.by('node', 'n1')
  // @ts-expect-error the options have no such index
  inline.by('nod', 'n1')
  useListWatch<Pod, 'node'>({ resource: 'pods', indexes: { node: 'spec.nodeName' } }).by('node', 'n1')
  // @ts-expect-error with an explicit object type, TypeScript cannot infer the names of the indexes, so misspelled names would be accepted
  useListWatch<Pod>({ resource: 'pods', indexes: { node: 'spec.nodeName' } })
  // @ts-expect-error the type arguments have no such index
  useListWatch<Pod, 'node'>({ resource: 'pods', indexes: { node: 'spec.nodeName' } }).by('nod', 'n1')
  // @ts-expect-error a list never changes
  items.push(items[0])
  return [pods, failed, flags]
}

function Objects({ name }: { name: string | undefined }) {
  const { object, loaded, error, phase: known } = useObject<Pod>(name === undefined ? null : { resource: 'pods', namespace: 'shop', name })
  const phase: string | undefined = object?.status?.phase
  const same: Pod | undefined = useObject({ ...typed, name: 'web-0' }).object
  // @ts-expect-error an object has a name
  useObject<Pod>({ resource: 'pods' })
  return [phase, same, loaded satisfies boolean, known satisfies Phase, error?.code]
}

function Several() {
  const untyped = useListWatches({ pods: { resource: 'pods' }, nodes: null, mine: typed })
  const labels: Record<string, string> | undefined = untyped.pods.items[0]?.object.metadata?.labels
  const node: string | undefined = untyped.mine.by('node', 'n1')[0]?.object.spec.nodeName
  // @ts-expect-error the options have no such index
  untyped.mine.by('nod', 'n1')
  // @ts-expect-error there is no such list
  untyped.services
  const explicit = useListWatches<{ pods: Pod, nodes: KubernetesObject }>({ pods: { resource: 'pods' }, nodes: { resource: 'nodes' } })
  const pods: ListView<Pod> = explicit.pods
  // @ts-expect-error there is no such option
  useListWatches<{ pods: Pod }>({ pods: { resource: 'pods', namspace: 'shop' } })
  return [labels, node, pods, untyped.nodes.size]
}

export { Filtered, Lists, Objects, Pods, Selections, Several, all, failed, labels }
