import type { ListWatchError } from './error.js'
import type { HookOptions, Item, KubernetesObject, ListWatchOptions, Phase, Snapshot } from './types.js'

/** The options of a hook. There is no `signal`, because the collection is closed when no component uses it. */
export interface UseListWatchOptions<I extends string = string> extends Omit<ListWatchOptions<I>, 'signal'>, HookOptions {
  /** The namespaces to show. Each has its own watch, and the hook merges them into one list. It replaces `namespace`. */
  namespaces?: readonly string[] | undefined
}

/** The result of `useListWatch`. It is the same value until an object or the state changes. */
export interface ListView<T = KubernetesObject, I extends string = string> extends Snapshot<T, I> {
  /** All items, sorted by key. */
  readonly items: readonly Item<T>[]
  /** Reports whether the first list is complete, or saved objects were restored. */
  readonly loaded: boolean
  /**
   * The error to show: the cause of an interruption, the reason why the collection stopped, or an invalid option. It is
   * undefined while the collection is live.
   */
  readonly error: ListWatchError | undefined
  /**
   * The errors by namespace; the key `""` stands for all namespaces. If one namespace fails, the others keep working.
   */
  readonly errors: Readonly<Record<string, ListWatchError>>
  /** Tries again at once; see `ListWatch.retry`. It is the same function in every render. */
  readonly retry: () => void
}

/** The result of `useObject`. It is the same value until one of its members changes. */
export interface ObjectView<T = KubernetesObject> {
  /** The object; undefined if it does not exist or is not loaded. */
  readonly object: T | undefined
  /** Reports whether the server has answered. If it is true and `object` is undefined, the object does not exist. */
  readonly loaded: boolean
  readonly error: ListWatchError | undefined
  /** The phase of the collection that contains the object. Only `"live"` means that the object is current. */
  readonly phase: Phase
  /** Tries again at once; see `ListWatch.retry`. It is the same function in every render. */
  readonly retry: () => void
}

/** The default of the index names if a call has type arguments, so that misspelled names are errors. */
export type MissingIndexes = 'Add the names of the indexes, for example useListWatch<Pod, "node">(…), or use listOptions<Pod>()'

/**
 * Appears in the compiler's error message if the type of the selection is missing. TypeScript infers either all type
 * arguments of a call or none.
 */
export type MissingType = 'Add the type of the selection, for example useListWatch<Pod, number>(…), or use listOptions<Pod>()'
