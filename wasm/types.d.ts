import type { ListWatchError } from './error.js'

/** The fields that every Kubernetes object has. Extend it with the fields of your resource. */
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

/** Options of `init`. */
export interface InitOptions {
  /**
   * The WASM module: a URL, a `Response`, bytes or a compiled module. A worker does not accept a `Response`.
   *
   * Default: `listwatch.wasm` next to this file. Some bundlers need this URL; see the README.
   */
  wasm?: string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module | undefined
  /**
   * The URL of the worker's script. The package exports a script in one file as `listwatch/worker`.
   *
   * Default: `worker.js` next to this file. Some bundlers need this URL; see the README.
   */
  worker?: string | URL | undefined
  /**
   * The thread that runs the WASM module:
   *
   * - `"shared"`: one SharedWorker for all tabs of the origin. Tabs share the watch of equal collections.
   * - `"worker"`: a dedicated worker of this page.
   * - `"main"`: the calling thread.
   *
   * Default: the first of these that the environment allows. A console warning reports each worker that does not start or
   * does not answer.
   * Node allows only `"main"`. If you set a mode that cannot be used, `init` rejects with the code `"load"`.
   */
  mode?: 'shared' | 'worker' | 'main' | undefined
}

/** Options of `listWatch`. Either `resource` or `path` is required. */
export interface ListWatchOptions<I extends string = string> {
  /**
   * The URL of the API server or of a proxy. A relative URL such as `"/k8s"` is resolved against the page's URL.
   *
   * Default: the page's origin. Node has no default.
   */
  server?: string | URL | undefined
  /** A built-in resource such as `"pods"`, or `"group/version/plural"` for any other resource. */
  resource?: string | undefined
  /** The path of the collection, for example `"/apis/example.com/v1/widgets"`. It replaces `resource` and `namespace`. */
  path?: string | undefined
  /** The namespace. Default: all namespaces. */
  namespace?: string | undefined
  /** The name of a single object. Default: all objects. */
  name?: string | undefined
  /** A label selector such as `"app=web,tier!=cache"`. */
  labelSelector?: string | undefined
  /** A field selector such as `"spec.nodeName=n1"`. */
  fieldSelector?: string | undefined
  /**
   * The transport of watches:
   *
   * - `"http"`: a streaming response to `fetch`.
   * - `"ws"`: a WebSocket. It requires Node 22 or later.
   * - `"auto"`: HTTP first. It switches to a WebSocket if HTTP is rejected or buffered by a proxy, or returns no response
   *   within three seconds.
   *
   * Default: `"auto"`.
   */
  transport?: 'auto' | 'http' | 'ws' | undefined
  /**
   * A bearer token, or a function that returns one. The function is called before each request, and again after a 401 response.
   *
   * Tabs share one watch only if their token functions return the same token at the start, or if `persist` names the user.
   */
  token?: string | (() => string | Promise<string>) | undefined
  /**
   * Headers for every request, for example `{ "Impersonate-User": "jane" }`. CORS must allow them.
   *
   * A WebSocket cannot send headers. With this option, `"auto"` uses only HTTP, `"ws"` omits the headers, and redirects
   * fail, because they could leak the headers to another server.
   */
  headers?: Record<string, string> | undefined
  /** The credentials mode of `fetch`. */
  credentials?: RequestCredentials | undefined
  /**
   * The fields to keep, for example `["spec.nodeName", "spec.containers[*].image"]`. The result also contains the object's
   * identity in `metadata` and the fields of `indexes`. Default: all fields.
   */
  project?: readonly string[] | undefined
  /**
   * The field of each index. For example, with `{ node: "spec.nodeName" }`, `by("node", "n1")` returns the objects
   * whose `spec.nodeName` is `"n1"`. If `[*]` matches several values, the index uses the first value. The limit is 200 indexes.
   */
  indexes?: { readonly [index in I]: string } | undefined
  /**
   * Saves the collection in IndexedDB. The next page that opens the collection immediately shows the saved objects,
   * in the phase `"stale"`, and resumes the watch without a list. If several pages save the same collection, only one of
   * them writes.
   *
   * The saved objects are visible to everyone who uses this browser profile. A user name instead of `true` gives each user
   * a separate copy.
   *
   * Saving requires a secure context. If it fails, the collection still works, and `state.persistError` contains the reason.
   *
   * Default: `false`.
   */
  persist?: boolean | string | undefined
  /**
   * The maximum number of objects. A larger collection stops with the error code `"too-large"`, so a server cannot exhaust
   * the memory. Default: no limit.
   */
  maxObjects?: number | undefined
  /**
   * Requests a streaming list instead of a paged one. Default: only in Node, because Chromium truncates the compressed
   * streaming lists of Kubernetes 1.37.
   */
  streamingLists?: boolean | undefined
  /**
   * Receives each step of the collection, for example `trace: console.debug`. It also receives the warnings, which
   * otherwise appear in the console. The React hooks use the function of the component that mounted first.
   */
  trace?: ((event: TraceEvent, detail: string) => void) | undefined
  /** Closes the collection when it is aborted. */
  signal?: AbortSignal | undefined
}

/** Options that only the React hooks use. `listWatch` ignores them, so that both accept the result of `listOptions`. */
export interface HookOptions {
  /**
   * How long the collection stays open after its last component unmounted, in milliseconds. A component that mounts
   * within this time shows the objects in its first render. A collection that failed is closed at once.
   *
   * Default: 5000, so that the collection survives StrictMode, a route change and a short visit to another tab.
   */
  keepAlive?: number | undefined
  /**
   * If the options change, continues to show the previous objects until the list for them is complete. Until then, `loaded` is
   * true, the phase is `"stale"`, and `by` returns no items for an index that the previous options lack.
   *
   * Default: `false`.
   */
  keepPrevious?: boolean | undefined
  /**
   * The shortest time between two renders because of changed objects, in milliseconds. A change of the phase is shown at once.
   *
   * Default: 0, which means at most one render per animation frame.
   */
  throttle?: number | undefined
}

/**
 * A step of a collection. The detail depends on the event:
 *
 * - `"list"`: a list starts.
 * - `"page"`: the number of objects on the remaining pages.
 * - `"synced"`, `"live"`, `"bookmark"`: the resourceVersion when a list is complete, a watch is open, or a bookmark arrives.
 * - `"interrupted"`, `"stopped"`: the error code and the message.
 * - `"switched"`: the reason for switching to a WebSocket.
 * - `"warning"`: a warning with the remedy.
 */
export type TraceEvent = 'list' | 'page' | 'synced' | 'live' | 'bookmark' | 'interrupted' | 'stopped' | 'switched' | 'warning'

/**
 * Associates options with the type of their objects. Its member exists only for the type checker. See `listOptions`.
 */
export interface Typed<T> {
  readonly '~object'?: T
}

/**
 * The phase of a collection says whether its objects are current:
 *
 * - `"waiting"`: there is no complete list yet, and no list is in progress. The WASM module is loading, or the connection
 *   failed.
 * - `"listing"`: the first list is in progress, or it is complete and its watch is not open yet.
 * - `"live"`: a watch delivers changes. Only this phase means that the objects are current.
 * - `"stale"`: the objects may be older than the server's. The connection failed, or `persist` has restored the objects of
 *   an earlier page and the server has not confirmed them yet.
 * - `"stopped"`: the collection was closed or failed permanently. There are no more attempts.
 *
 * A watch that the server closes stays live if the next one opens within five seconds.
 */
export type Phase = 'waiting' | 'listing' | 'live' | 'stale' | 'stopped'

/** The state of a collection. It is immutable. */
export interface State {
  readonly phase: Phase
  /** When the phase began, in milliseconds since 1970; 0 if no collection is open. */
  readonly since: number
  /** The resourceVersion of the collection; `""` before the first complete list. */
  readonly resourceVersion: string
  /** The time of the last data from the server, in milliseconds since 1970; 0 before the first data. */
  readonly lastEventAt: number
  /** Reports whether the first list is complete, or saved objects were restored. */
  readonly synced: boolean
  /** The last error since the collection was live. While it is live, `cause` is undefined or has the code `"turns"`. */
  readonly cause?: ListWatchError | undefined
  /** The time of the next attempt, in milliseconds since 1970; defined from an interruption until the next list or watch. */
  readonly retryAt?: number | undefined
  /** The progress of the first list. `remaining` is undefined if the server does not report it. */
  readonly progress?: { readonly received: number; readonly remaining?: number | undefined } | undefined
  /** The reason why `persist` does not save the collection; undefined if it does. */
  readonly persistError?: ListWatchError | undefined
}

/** One version of an object in a collection. It is immutable: an update creates a new item. */
export interface Item<T = KubernetesObject> {
  /** `"namespace/name"`, or `"name"` for an object without a namespace. */
  readonly key: string
  /** The namespace, or `""`. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /**
   * The Kubernetes object. It is parsed on first access, and every access returns the same value. All readers share it, so
   * do not modify it.
   */
  readonly object: T
}

/**
 * A change of one object. The changes of one key are always in a valid order: added, modified any number of times, deleted,
 * added again. If an object was recreated with another UID, it is deleted first and then added, even if the server did not
 * report the deletion.
 */
export interface Change<T = KubernetesObject> {
  readonly type: 'added' | 'modified' | 'deleted'
  /** The key of the object; see `Item`. */
  readonly key: string
  /** The new state of the object. For `"deleted"` it is the last known state. */
  readonly object: T
  /** The previous state of the object; undefined for `"added"`. */
  readonly old: T | undefined
  /** The item that contains `object`. */
  readonly item: Item<T>
  /** Reports whether the object belongs to the first list, or was in the collection when the iteration started. */
  readonly initial: boolean
  /** Reports whether an earlier page saved the object and the server has not confirmed it yet. */
  readonly stale: boolean
  /**
   * Reports whether the deletion was inferred: the final state is unknown, because the server did not report the
   * deletion.
   */
  readonly finalStateUnknown: boolean
}

/** A collection at one point in time. It is immutable. */
export interface Snapshot<T = KubernetesObject, I extends string = string> {
  /** The number of objects. */
  readonly size: number
  readonly state: State
  /** Returns the object with this key, or undefined. */
  get(key: string): T | undefined
  /** Returns the item with this key, or undefined. */
  item(key: string): Item<T> | undefined
  /** Returns all items, sorted by key. */
  list(): readonly Item<T>[]
  /** Returns the items with this value in this index, sorted by key. It throws if the index does not exist. */
  by(index: I, value: string): readonly Item<T>[]
}

/** A collection that is kept up to date with the server. */
export interface ListWatch<T = KubernetesObject, I extends string = string> extends AsyncIterable<Change<T>> {
  /**
   * Resolves when the first list is complete. It rejects with a `ListWatchError` if the collection stops before that, for
   * example because the server returned 403 or because `close` was called.
   */
  readonly synced: Promise<void>
  /** The number of objects. */
  readonly size: number
  /** The current state. It is the same value until the state changes. */
  readonly state: State
  /** Returns the object with this key, or undefined. */
  get(key: string): T | undefined
  /** Returns the item with this key, or undefined. */
  item(key: string): Item<T> | undefined
  /** Returns all items, sorted by key. It does not parse objects. */
  list(): readonly Item<T>[]
  /** Returns the items with this value in this index, sorted by key. It throws if the index does not exist. */
  by(index: I, value: string): readonly Item<T>[]
  /**
   * Calls `callback` with each batch of changes, at most once per animation frame. The batch is empty if only the state
   * changed. Returns a function that ends the subscription.
   */
  subscribe(callback: (changes: readonly Change<T>[]) => void): () => void
  /**
   * Returns the current snapshot. It is the same value until something changes, so it suits external stores of UI
   * frameworks. For React, use `useListWatch` from `listwatch/react`.
   */
  getSnapshot(): Snapshot<T, I>
  /**
   * Iterates over all current objects as additions, and then over all changes. A slow reader receives the changes of an
   * object merged into one change, or into two if the object was deleted and added again.
   *
   * The iteration throws a `ListWatchError` if the collection fails. It ends if the collection is closed. `return()` ends it
   * at once, even while `next()` is pending.
   */
  [Symbol.asyncIterator](): AsyncGenerator<Change<T>, void, undefined>
  /**
   * Tries again at once. It reopens a collection that has failed, for example with 401, 403 or 404: it clears the error, and
   * keeps the objects as stale until the new list is complete. `synced` is then a new promise. During an interruption, it
   * does the same as `wake`.
   */
  retry(): void
  /** Stops the watch. The objects stay readable. */
  close(): void
}

/**
 * The code of a `ListWatchError`:
 *
 * - `"unauthorized"`, `"forbidden"`, `"not-found"`: the server returned 401, 403 or 404.
 * - `"expired"`: the server no longer has the resourceVersion (410).
 * - `"too-many-requests"`: the server returned 429.
 * - `"status"`: the server returned another error.
 * - `"malformed"`: the response is not a list or a watch. Before the first complete list, the code is `"invalid"` instead.
 * - `"too-large"`: the collection exceeds `maxObjects`, or the response exceeds a limit.
 * - `"closed"`: the server closed the connection.
 * - `"silent"`: the server sent nothing for too long.
 * - `"turns"`: too many watches share two HTTP/1.1 connections, so changes arrive some seconds late. The collection is live.
 * - `"unsupported"`: the server or a proxy does not support the transport.
 * - `"network"`: the connection or the token function failed.
 * - `"invalid"`: an option or an argument is invalid, or the server rejected the request (400 or 422).
 * - `"load"`: the WASM module or its worker did not load.
 * - `"crashed"`: the WASM module or its worker crashed. A collection restarts by itself, but stops after the third restart
 *   within a minute.
 * - `"storage"`: the collection could not be saved in IndexedDB.
 * - `"aborted"`: the collection was closed or its signal was aborted.
 */
export type ErrorCode =
  | 'unauthorized' | 'forbidden' | 'not-found' | 'expired' | 'too-many-requests' | 'status' | 'malformed' | 'too-large'
  | 'closed' | 'silent' | 'turns' | 'unsupported' | 'network' | 'invalid' | 'load' | 'crashed' | 'storage' | 'aborted'
