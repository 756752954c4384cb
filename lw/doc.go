// Package lw follows a collection on a Kubernetes-like API server as one endless stream of events, of which the
// collection's state is the fold.
//
// [ListAndWatch] is the engine: it lists, watches from the list's resource version, resumes where a watch broke, and
// lists again where it cannot, and tells all that as [Event]s. A [Client] makes its requests over a [Transport], which
// packages transport/http and transport/ws provide, and a test may; another system is followed by another
// [ListerWatcher], as examples/etcd shows. Package cache folds the stream into a store.
//
//	client, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
//	…
//	for event := range lw.ListAndWatch(ctx, client, nil) {
//		fmt.Println(event.Type, event.ResourceVersion)
//	}
//
// # Objects
//
// An [Object] is its JSON text. What the engine needs of it was read while the text was validated, in one pass over the
// bytes as they arrived; every other field is read when it is asked for, by [Object.Get]. JSON is accepted as by
// encoding/json, save for nesting deeper than 1,000 levels: duplicate members count by the last one, invalid UTF-8 is
// passed through and reads as U+FFFD.
//
// # Errors
//
// Nothing ends the stream but its context, its consumer, or [Options.StopOn]. Whatever goes wrong comes as an
// [Interrupted] event with a typed cause: *[StatusError] for what the server said, *[MalformedError] and
// *[FrameTooLargeError] for what it should not have sent, [ErrWatchClosed] for a watch that ended in good order, and the
// transport's own errors. [Options.Logger] receives a warning with the cause and the remedy; by default it is slog.Default().
//
// # Concurrency
//
// The package keeps no global state, and starts no goroutine but one for [Options.Wake], which ends with its request. Objects, clients and options may be shared.
//
// # Wasm
//
// The package compiles for GOOS=js and behaves the same there, except that the default log is console.warn. There it imports
// neither net/http nor fmt nor a package that reads values by reflection, so that a program stays small.
package lw
