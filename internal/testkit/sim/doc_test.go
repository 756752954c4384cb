// Package sim proves the list-watch engine by deterministic simulation. One seed makes a world: an API server with its
// storage, its watch caches and its habits, a network, bad weather, and a caller who may be slow or leave. The real
// lw.Client, lw.ListAndWatch and cache.Reflector live in it until the weather has cleared up and all is well again, or a
// promise was broken. A seed repeats exactly, and tells a trace.
//
// # How
//
// There is no goroutine but the engine's caller's, and the watchdog's timer: when the engine waits for bytes, the world
// goes on within Read. Time is that of testing/synctest, so hours cost nothing. The server stands on revlog; what really
// happened is written down a second time, in truth_test.go, and that is what the engine is held against.
//
// # Promises
//
// They are those of a watch in etcd (https://etcd.io/docs/latest/learning/api_guarantees/), carried through relists, and
// those of the engine's documentation. All are checked at every event, request or read:
//
//   - ordered, unique, reliable: each event of a watch is what the server did next to the collection after the version
//     that the stream claims, with the same type and text. So none comes twice, and none is lost.
//   - atomic: the store and the stream claim the same version.
//   - resumable: a watch begins at the version claimed. So does a run, if the one before did not end within a list or in
//     doubt about versions; also where the process was begun anew in between, with the state that it had saved.
//   - restores what was saved: it is told as a list of the version claimed, before any request.
//   - bookmarkable: a bookmark of a version means that all up to it was delivered.
//   - the fold is the server's state: outside of a list that is not finished, the store holds the server's state at
//     exactly the version claimed, to the byte.
//   - never goes back: the claimed version goes back only by a list, and only if a restore has undone it, or if the list
//     is the first request of a run.
//   - brackets lists: Reset, objects without a version, Synced.
//   - changes alternate: the changes of a key are Added, any number of Modified, Deleted, and so on.
//   - changes sum up: applying the changes gives the content of the store.
//   - missed only in sweeps: the end of a list has only FinalStateUnknown deletions. Elsewhere, the Added of an object with another
//     UID follows a FinalStateUnknown deletion directly.
//   - live is live: at Live a watch is open from the version claimed; watch events come between Live and Interrupted only.
//   - says what is stale: no request is made, and no list begins, while Live is the last word.
//   - tells how it goes on: the next request comes after Interruption.Delay, to the nanosecond, or when Options.Wake ends the
//     delay. It is a list if Interruption.Relist says so, and else a watch or a version check.
//   - relists, resumes: see the oracle below.
//   - notices silence: the engine ends a watch that brought nothing for 150 s, an unanswered request or a list after 100 s,
//     and the list part of a streaming list after 20 s. Each bound includes the 10 s between two looks of the watchdog.
//     The longer one of the monotonic time and the wall time counts. After a suspension one look is allowed.
//   - paced: in any window of W seconds a run makes at most 12 + W paid requests. A page is free if it brings an object
//     that no earlier page of the list brought, and if it fails. A wake allows one request more.
//   - relists seldom: at most four lists begin in any 60 s of a run. A list counts when it brings an object or is complete. An empty
//     streaming list that an ordinary list confirms does not count.
//   - resumes soon: after a healthy watch that ended well the delay is at most 0.5 % of the watch's life, and at most 1 s. It
//     is zero if the watch reached its own timeout. Only the request budget may add to it.
//   - backs off: the n-th failure in a row waits at least min(0.8 s * 2^(n-1), 30 s), and at most twice that. The budgets
//     may add to it. The remedies that need no delay are exempt, and so are ten answers in a row with Retry-After.
//   - has jitter: in one seed, the delays of the backoff are not all bare steps, and the delays after healthy watches are
//     not all zero.
//   - honors Retry-After: a delay is at least as long as the server asked for, up to 5 minutes.
//   - wakes: Options.Wake ends every delay.
//   - distrusts an early mark: an ordinary list follows a streaming list whose end mark came before its objects.
//   - stops at once: when the context ends, no time passes, and no event comes. A goroutine left behind is a deadlock in
//     the bubble.
//   - stops when told: Options.StopOn of the simulation stops at 401, 403 and 404. Then Interrupted is the last event, and
//     no request follows.
//   - leaves nothing behind: a response is closed before the interruption is told, and at the end.
//   - converges: within 12 simulated minutes after the weather cleared up, the fold is the server's state and a watch is
//     open. See below.
//   - goes on: a write after that arrives within 5 s.
//
// # The oracle
//
// The simulated server records each answer, and each connection records how it ended: cause_test.go. The oracle predicts from
// this record what must follow: oracle_test.go. It never looks at the engine's errors. Where the specification leaves a choice,
// or where only the engine can know what it had read, the oracle accepts both.
//
// A watch that failed leads to a list after a 404, a 410, a third instant clean end in a row, a second 500 or garbage in a
// row, a resourceVersion that went back, and a list without a resourceVersion. Everything else leads to a watch.
//
// # Hostile servers
//
// One seed in three has a server whose pages circle, drift to another resourceVersion, or lose it: hostile_test.go. In bad
// weather lists of another kind come, watches end at once with news, and gateways answer watches with 502, 503 or 504.
//
// One seed in eight has a server whose events or lists have no resourceVersion, or which marks the end of a streaming list
// before its objects. Nobody can say what the next event must be there. The exact checks are off (checker.loose). Only an
// object that the server's list lacks may be swept, the changes must sum up, all rules for requests and delays hold, and the
// fold converges.
//
// # How long convergence takes
//
// The longest way without a counter that went back, in seconds:
//
//	330  the last answer in bad weather had Retry-After: 300, and jitter adds 30; a dead connection takes less, 150
//	180  the server says that the resourceVersion is too old by three instant clean ends: two or three delays of up to 60
//	 60  the bound on lists
//	 20  a streaming list whose end is never marked
//	120  the pages circle: a delay of up to 60, and the bound on lists again
//
// That is 710 s. A counter that went back adds 5 minutes until the version check is due, and the 150 s of the watch before
// it, where three clean ends are impossible. That is 980 s, and the bound is 17 minutes. The reference engine of the tests
// needed at most 9 minutes in 4,000 seeds.
//
// # Restores
//
// A restore begins an incarnation: a history that shares its past with the one before up to a revision, and then goes its
// own way. A claim is a version with the incarnation whose response brought it, and the state that it must equal is that
// incarnation's, even when it has ended.
//
// If the counter went back, the same version can mean two states, and no client can tell which (hence etcdutl's
// --bump-revision). What the protocol cannot do is not asked of the engine: while the engine claims, or has read of, a
// version that was undone, the restored server stops short of it until the engine has moved on; it does write up to there.
package sim
