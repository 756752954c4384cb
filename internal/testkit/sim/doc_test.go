// Package sim tests the list-watch engine by deterministic simulation. Each seed creates a world: an API server with
// storage and watch caches, a network, random faults, and a caller that may be slow or stop. The real lw.Client,
// lw.ListAndWatch and cache.Informer run in this world until the faults have stopped and the store equals the server,
// or until a guarantee is broken. The same seed always produces the same events and the same trace.
//
// # Operation
//
// The only goroutines are the engine's caller and the watchdog. When the engine waits for bytes, the simulation
// advances within Read. Simulated time comes from testing/synctest, so simulating hours takes milliseconds. The server
// uses revlog. File truth_test.go records every write a second time, and the checks compare the engine with this record.
//
// Code and traces call the faults of a seed its weather. The weather clears up when the faults stop. A habit is a
// lasting fault of the server. A stream is one call of the engine, which the caller may stop at any time. The next
// stream continues with the same store.
//
// # Guarantees
//
// The guarantees extend those of an etcd watch (https://etcd.io/docs/latest/learning/api_guarantees/) to relists, and
// include the guarantees in the engine's documentation. The simulation checks each event, request and read. The claimed
// resourceVersion of a stream is the resourceVersion that its latest event reached.
//
//   - ordered, unique, reliable: each event of a watch is the server's next change after the claimed resourceVersion,
//     with the same type and content. Events are neither repeated nor lost.
//   - atomic: the store and the stream have the same resourceVersion.
//   - resumable: a watch starts at the claimed resourceVersion. The next stream also starts with such a watch, even in
//     a restarted process with saved state. It starts with a list only if the previous stream ended during a list,
//     after resourceVersions decreased, or after a streaming list without an end.
//   - restores the saved state: a stream with saved state reports it as a list at its resourceVersion before any
//     request. The list has no resourceVersion if the process that saved the state had to relist, because
//     resourceVersions decreased or a streaming list had no end.
//   - bookmarkable: all events up to a bookmark's resourceVersion have been delivered.
//   - equals the server's state: outside of an unfinished list, the store equals the server's state at the claimed
//     resourceVersion, byte for byte.
//   - never decreases: only a list can decrease the claimed resourceVersion. This list must follow a restore that has
//     undone the claimed resourceVersion, or it must be the first request of a stream.
//   - brackets lists: a list is ListStarted, objects without resourceVersions, and Synced.
//   - changes alternate: the changes of a key are Added, any number of Modified, Deleted, and so on.
//   - changes match the store: applying all changes results in the content of the store.
//   - final state unknown only after relists: all deletions at the end of a list have FinalStateUnknown. Otherwise,
//     only a deletion directly before the Added of an object with another UID has FinalStateUnknown.
//   - watches while live: at WatchStarted a watch from the claimed resourceVersion is open. Watch events come only
//     between WatchStarted and Interrupted.
//   - is live only with the server: the subject's phase is Live exactly while one of the server's watches is open. A
//     restored state is never live before the server has answered.
//   - reports staleness: the engine sends no request and starts no list between WatchStarted and Interrupted.
//   - follows the interruption: the next request comes exactly after Interruption.Delay, or when Options.Wake ends the
//     delay. It is a list if Interruption.Relist is true, and otherwise a watch or a version check.
//   - relists, resumes: see the oracle below.
//   - detects silence: the engine ends a watch without data after 150 s, a request without a response and a list after
//     100 s, and the list part of a streaming list after 20 s, or after 100 s within an object. These limits include the 10 s between two checks of the
//     watchdog. The longer of monotonic time and wall time counts. After a suspension the watchdog may need one more
//     check.
//   - limits requests: in any window of W seconds, a stream sends at most 12 + W requests. A page does not count if it
//     contains an object that is new in the list, or if it fails. Each wake allows one more request.
//   - limits relists: the lists of any 60 s deliver fewer objects than five pages. A list counts as at most one page.
//     Only lists that have cost more than three pages delay another list, so a small collection is never stale because
//     of this limit.
//   - resumes quickly: after a healthy watch closed cleanly, the delay is at most 0.5 % of its duration and at most 1
//     s. It is zero if the watch reached its timeout. Only the request budget may increase the delay.
//   - backs off: the delay after the n-th consecutive failure is at least min(0.8 s * 2^(n-1), 30 s) and at most twice
//     that. The request budgets may increase it. Remedies that need no delay are exempt, and so are the first ten
//     consecutive responses with Retry-After.
//   - uses jitter: within a seed, at least one backoff delay has jitter, and at least one delay after a healthy watch
//     is not zero.
//   - honors Retry-After: a delay is at least as long as the server requested, up to 5 minutes.
//   - wakes: Options.Wake ends every delay.
//   - rejects early end bookmarks: an ordinary list follows a streaming list whose initial-events-end bookmark came
//     before its objects.
//   - stops immediately: after the context is done, no time passes and no event comes. A remaining goroutine deadlocks
//     the synctest bubble.
//   - honors StopOn: the simulation's StopOn stops at 401, 403 and 404. Interrupted is then the last event, and no
//     request follows.
//   - closes responses: each response is closed before its interruption is reported and before the stream ends.
//   - converges: within 12 simulated minutes after the faults stop, the store equals the server and a watch is open.
//     See below.
//   - keeps watching: a write after convergence arrives within 5 s.
//
// # The oracle
//
// The simulated server records each response, and each connection records how it ended (cause_test.go). From this
// record, the oracle predicts the engine's next step (oracle_test.go). It never looks at the engine's errors. If the
// specification allows several steps, or if only the engine knows how much it has read, the oracle accepts all of them.
//
// After a failed watch, the engine must relist in these cases: a 404, a 410, a third consecutive immediate clean end, a
// second consecutive 500 or malformed response, a decreased resourceVersion, and a list without a resourceVersion. In
// all other cases it must resume the watch.
//
// # Hostile servers
//
// In one of three seeds, the pages of lists repeat, have different resourceVersions, or have no resourceVersion
// (hostile_test.go). Weather can include lists of another kind, watches that send one change and end, and gateways that
// reject watches with 502, 503 or 504.
//
// In one of eight seeds, the server sends events or lists without resourceVersions, or sends the initial-events-end
// bookmark before the objects. The next event is then unpredictable, so the exact checks are disabled (checker.loose).
// The other checks remain: relists only delete objects that are not in the server's list, applying the changes results
// in the content of the store, all rules for requests and delays hold, and the store converges.
//
// # Time to converge
//
// The longest sequence without a reset of the revision counter takes 710 s:
//
//	330 s  the last fault is a Retry-After of 300 s, with 30 s of jitter; a half-open connection takes only 150 s
//	180 s  three immediate clean ends show that the resourceVersion is too old, with two or three delays of up to 60 s
//	 60 s  the limit on lists
//	 20 s  a streaming list without an initial-events-end bookmark
//	120 s  pages that repeat: a delay of up to 60 s, and the limit on lists again
//
// A reset revision counter adds 5 minutes until the version check and the 150 s of the watch before it. In this case
// the three clean ends are impossible. The sum is 980 s, and the limit is 17 minutes. In 4,000 seeds, the reference
// engine of the tests needed at most 9 minutes.
//
// # Restores
//
// When a backup is restored, a new incarnation of the data starts. Up to a revision, the history of the new incarnation
// equals that of the previous incarnation. A claim is a resourceVersion together with the incarnation that sent it. The
// store must equal the state of that incarnation, even after the incarnation has ended.
//
// If a restore resets the revision counter, two states can have the same resourceVersion. No client can distinguish
// them, which is why etcdutl has --bump-revision. The simulation therefore avoids this case: the restored server does
// not reach a revision that the engine has seen in the lost history until the engine has relisted.
package sim
