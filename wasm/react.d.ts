// listwatch for React.

import type { KubernetesObject, ListWatchOptions, Snapshot } from './index.js'

/** The options of a component's collection. What ends it is that no component is mounted that shows it. */
export type UseListWatchOptions = Omit<ListWatchOptions, 'signal'>

/**
 * Follows a collection as long as the component is mounted, and returns it as it is now: empty in the first render, and on a
 * server; `state.phase` tells what is there, and `state.cause` what went wrong. Options are compared by value, so they may be
 * written where they are used. All components of a page whose options are equal share one collection; functions for the token
 * count as equal, and the one that was given last is called. With null nothing is followed.
 */
export function useListWatch<T = KubernetesObject>(options: UseListWatchOptions | null | undefined): Snapshot<T>

/** The same, for a part: the component renders when what `select` returns is another by `isEqual`, which is Object.is. */
export function useListWatch<T = KubernetesObject, S = unknown>(
  options: UseListWatchOptions | null | undefined,
  select: (snapshot: Snapshot<T>) => S,
  isEqual?: (a: S, b: S) => boolean,
): S
