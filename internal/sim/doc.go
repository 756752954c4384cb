// Package sim proves the list-watch engine by deterministic simulation. One seed makes a world: an API server with its
// storage, its watch caches and its habits, a network, bad weather, and a caller who may be slow or leave. The real
// lw.Client, lw.ListAndWatch and cache.Reflector live in it until the weather has cleared up and all is well again, or a
// promise was broken. A seed repeats exactly, and tells a trace.
//
// # How
//
// There is no goroutine but the engine's caller's, and the watchdog's timer: when the engine waits for bytes, the world
// goes on within Read. Time is that of testing/synctest, so hours cost nothing. The server stands on revlog; what really
// happened is written down a second time, in truth.go, and that is what the engine is held against.
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
//   - deltas alternate: the deltas of a key are Added, any number of Updated, Deleted, and so on.
//   - deltas sum up: applying the deltas gives the content of the store.
//   - missed only in sweeps: the end of a list has only Missed deletions. Elsewhere, the Added of an object with another
//     UID follows a Missed deletion directly.
//   - live is live: at Live a watch is open from the version claimed; watch events come between Live and Interrupted only.
//   - says what is stale: no request is made, and no list begins, while Live is the last word.
//   - tells how it goes on: after a Break's delay, to the nanosecond, comes a list if it says so, and else a watch or the
//     check of the version.
//   - notices silence: a request brings bytes within 90 s, the list part of a streaming list within 10 s, a watch within
//     150 s of a bookmark or 5 s beyond the timeout asked for; and half a second more than the 10 s between two looks.
//   - paced: no more than 20 requests within 10 s that bring nothing new; the pages of a list count as one.
//   - stops at once: when the context ends, no time passes, and no event comes. A goroutine left behind is a deadlock in
//     the bubble.
//   - stops when told: what Options.StopOn wants to stop at is the last event, and no request follows.
//   - leaves nothing behind: a response is closed before the interruption is told, and at the end.
//   - converges: within 15 simulated minutes after the weather cleared up the fold is the server's state and a watch is
//     open. The longest way is a silent connection without bookmarks: 10 minutes and 5 s, a look, the longest delay of a
//     minute, or two minutes by Retry-After, and the minute in which the server goes on writing. If a counter went back,
//     it is 27: a second watch, from the future, may be silent for its whole life before the version is checked.
//   - goes on: what is written then arrives within 5 s.
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
