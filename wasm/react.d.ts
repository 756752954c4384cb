// listwatch for React.

import type { KubernetesObject, ListWatchOptions, Snapshot } from './index.js'

/** The options of a component's collection. What ends it is that no component is mounted that shows it. */
export type UseListWatchOptions = Omit<ListWatchOptions, 'signal'>

/**
 * Follows a collection as long as the component is mounted, and returns it as it is now: empty in the first render, and on a
 * server; `state.phase` tells what is there, and `state.cause` what went wrong. Options are compared by value, so they may be
 * written where they are used. All components of a page whose options are equal share one collection. With null nothing is
 * followed.
 *
 * A function for the token may be written there, too: the one of a later render takes the place of the one before, and opens
 * nothing. Components share a collection only as long as they are given the same function, so give them one that is made once;
 * with a function each, each has a collection of its own. A component that goes over to another user needs another `key`.
 */
export function useListWatch<T = KubernetesObject>(options: UseListWatchOptions | null | undefined): Snapshot<T>

/** The same, for a part: the component renders when what `select` returns is another by `isEqual`, which is Object.is. */
export function useListWatch<T = KubernetesObject, S = unknown>(
  options: UseListWatchOptions | null | undefined,
  select: (snapshot: Snapshot<T>) => S,
  isEqual?: (a: S, b: S) => boolean,
): S
