// listwatch for TypeScript and JavaScript: a Kubernetes collection, listed once and then followed, in a page, in a worker or
// in Node.

/** A Kubernetes object, as far as every one has it. */
export interface KubernetesObject {
  apiVersion?: string
  kind?: string
  metadata?: {
    name?: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    creationTimestamp?: string
    [field: string]: unknown
  }
}

/** Where the program is, and where it runs. The first call decides. */
export interface InitOptions {
  /** The program: a URL, a response, bytes or a compiled module. By default `listwatch.wasm` beside this module. */
  wasm?: string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module
  /**
   * `"shared"`: in one SharedWorker for all tabs of the origin, which share one watch of each collection. `"worker"`: in a
   * worker of this page. `"main"`: on this thread. By default the first of them that the browser allows. If a mode is given and
   * cannot be used, `init` rejects with the code `"load"`.
   */
  mode?: 'shared' | 'worker' | 'main'
}

/** Loads the program. Calling it is optional, and calling it again returns the same promise, unless the first try failed. */
export function init(options?: InitOptions): Promise<void>

export interface ListWatchOptions {
  /** The server's URL. A relative URL such as `"/k8s"` resolves against the page's origin. The default is the page's origin. */
  server?: string | URL
  /** `"pods"`, `"deployments"`, or for resources that are not built in `"group/version/plural"`. */
  resource?: string
  /** In place of `resource` and `namespace`: a collection's path, as `"/apis/example.com/v1/widgets"`. */
  path?: string
  /** By default all namespaces. */
  namespace?: string
  /** A single object. */
  name?: string
  labelSelector?: string
  fieldSelector?: string
  /**
   * How to watch: over fetch, over WebSocket, or by `"auto"`, the default, over fetch, and over WebSocket where fetch is refused,
   * proves not to stream, or has no answer after three seconds.
   */
  transport?: 'auto' | 'http' | 'ws'
  /**
   * A bearer token, or what returns one: it is asked for every request, and once more after a 401. Tabs that follow the same
   * share one watch while their tokens are the same when they begin, or `persist` names the same user.
   */
  token?: string | (() => string | Promise<string>)
  /**
   * Sent with every request, as `Impersonate-User`; the server has to allow each by CORS. A WebSocket cannot send them: with
   * headers, `"auto"` opens none, and `"ws"` one without them. A redirect is then an error: it might lead to another server.
   */
  headers?: Record<string, string>
  /** As for fetch. */
  credentials?: RequestCredentials
  /**
   * The fields to keep, as `"spec.nodeName"` or `"spec.containers[*].image"`; metadata's names and versions always stay, and so
   * does what indexes read.
   */
  project?: string[]
  /**
   * Indexes, each by the text of a field: `{ node: "spec.nodeName" }` makes `by("node", "n1")`. Where `[*]` leads to several
   * values, it is the first that counts.
   */
  indexes?: Record<string, string>
  /**
   * Keeps the state in IndexedDB: the next page shows it at once, marked stale, and goes on from there without a list. It
   * takes a secure context; of several pages that keep the same, one writes. Whoever uses the browser next sees it, too: give
   * a user's name in place of true, and each has a state of their own.
   */
  persist?: boolean | string
  /**
   * The most objects that are held: one more stops the collection, with `"too-large"`, so that a server cannot fill the
   * memory. By default there is no limit.
   */
  maxObjects?: number
  /**
   * Whether to ask for streaming lists. By default in Node only, as Kubernetes 1.37 compresses them in a way of which
   * Chromium reads but the first part.
   */
  streamingLists?: boolean
  /** Closes the collection. */
  signal?: AbortSignal
}

export type Phase = 'loading' | 'listing' | 'live' | 'interrupted' | 'stopped'

export interface State {
  readonly phase: Phase
  /** The collection's version: where a watch would go on; `""` before the first list is complete. */
  readonly resourceVersion: string
  /** When something was last heard of the collection, in milliseconds since 1970; 0 for never. */
  readonly lastEventAt: number
  /**
   * What went wrong last; undefined while live, unless its code is `"turns"`: too many watches share the connections of the
   * browser, so changes arrive some seconds late.
   */
  readonly cause?: ListWatchError | undefined
  /** When the next try begins, in milliseconds since 1970, while interrupted. */
  readonly retryAt?: number | undefined
  /** Whether what is shown may be older than the server's: before the first list, while interrupted. */
  readonly stale: boolean
  /** How many objects of a first list have come, and how many are left, if the server tells. */
  readonly progress?: { readonly received: number; readonly remaining?: number | undefined } | undefined
}

/** An object of a collection. It never changes: what changed is another one. */
export interface Item<T = KubernetesObject> {
  /** `"namespace/name"`, or `"name"` for what has no namespace. */
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** The object itself, parsed when it is first asked for. Always the same one; whoever changes it changes it for others. */
  readonly object: T
}

/**
 * One change of an object. The changes of one key are a legal sequence: added, any number of modified, deleted, added again. An
 * object that was recreated with another UID is deleted and then added, also if the deletion was not seen.
 */
export interface Change<T = KubernetesObject> {
  readonly type: 'added' | 'modified' | 'deleted'
  readonly key: string
  /** What the object is now; for `deleted` the last that was known of it. */
  readonly object: T
  /** What it was before; undefined for `added`. */
  readonly old: T | undefined
  readonly item: Item<T>
  /** It belongs to the first list, or to the state that was there when the collection was opened. */
  readonly initial: boolean
  /** It was kept from before the page was loaded, and is not confirmed yet. */
  readonly stale: boolean
  /** The deletion was not seen, so the final state is unknown: a list lacks the object, or its key has another UID now. */
  readonly missed: boolean
}

/** A collection at one moment. It never changes, and is the same one until something does. */
export interface Snapshot<T = KubernetesObject> {
  readonly size: number
  readonly state: State
  get(key: string): T | undefined
  item(key: string): Item<T> | undefined
  list(): readonly Item<T>[]
  by(index: string, value: string): readonly Item<T>[]
}

export interface ListWatch<T = KubernetesObject> extends AsyncIterable<Change<T>> {
  /**
   * Resolves when the first list is complete; rejects if the collection is refused, as by a 403 or a 400, if what answers is no
   * list, or if it is closed before.
   */
  readonly synced: Promise<void>
  readonly size: number
  readonly state: State
  get(key: string): T | undefined
  item(key: string): Item<T> | undefined
  /** All objects, in the order of their keys. Nothing is parsed by that. */
  list(): readonly Item<T>[]
  by(index: string, value: string): readonly Item<T>[]
  /** Called with the changes of each batch, which may be none when only the state changed. Returns how to end it. */
  subscribe(callback: (changes: readonly Change<T>[]) => void): () => void
  /** Fit for stores of user interfaces, together with subscribe; for React there is useListWatch of `listwatch/react`. */
  getSnapshot(): Snapshot<T>
  /**
   * All that is there, and then all that changes. A slow reader gets one change of each object, to its newest state, or two
   * if the object was deleted and added again. `return()` ends the iteration at once, also while it waits.
   */
  [Symbol.asyncIterator](): AsyncGenerator<Change<T>, void, undefined>
  close(): void
}

/** Follows a collection. */
export function listWatch<T = KubernetesObject>(options: ListWatchOptions): ListWatch<T>

/**
 * Has all collections look at once whether their connections live, and ends the delay before the next try, as for a button
 * "try now". A delay that follows a server's answer stays: then `state.cause.status` is set. A page that is shown again, or
 * online again, does it by itself.
 */
export function wake(): void

export type ErrorCode =
  | 'unauthorized' | 'forbidden' | 'not-found' | 'expired' | 'too-many-requests' | 'status'
  | 'malformed' | 'too-large' | 'closed' | 'silent' | 'turns' | 'unsupported' | 'network' | 'invalid' | 'load' | 'crashed'
  | 'aborted'

export class ListWatchError extends Error {
  readonly code: ErrorCode
  /** The HTTP status, if the server answered one. */
  readonly status?: number
  /** Kubernetes' word for it, as `"Forbidden"`. */
  readonly reason?: string
  /** Whether another try may do better by itself. */
  readonly retryable: boolean
}
