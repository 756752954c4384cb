// tsc --strict checks this file, which is never run. It contains code that must compile and code that must not.
import { ListWatchError, init, listWatch, wake } from 'listwatch'
import type { Change, ErrorCode, Item, KubernetesObject, ListWatch, ListWatchOptions, Phase, Snapshot, State } from 'listwatch'
import { glue } from 'listwatch/glue'
import { useListWatch } from 'listwatch/react'

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

function Pods({ node }: { node?: string }) {
  const snapshot: Snapshot<Pod> = useListWatch<Pod>({ resource: 'pods', token: () => 'secret' })
  const nothing: Snapshot = useListWatch(node ? { resource: 'pods' } : null)
  const count: number = useListWatch({ resource: 'pods' }, (pods) => pods.size)
  const names: string[] = useListWatch<Pod, string[]>({ resource: 'pods' }, (pods) => pods.list().map(({ name }) => name),
    (a, b) => a.join() === b.join())
  // @ts-expect-error the component controls the lifetime, so there is no signal
  useListWatch({ resource: 'pods', signal: new AbortController().signal })
  // @ts-expect-error a selection has the type that select returns
  const wrong: string = useListWatch({ resource: 'pods' }, (pods) => pods.size)
  return { snapshot, nothing, count, names, wrong }
}

export { Pods, all, failed, labels }
