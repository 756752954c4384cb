// Package lw follows collections on a Kubernetes API server with the list-watch protocol.
//
// [ListAndWatch] yields the changes of one collection as an endless sequence of [Event] values. It lists the collection
// and watches it from the list's resourceVersion. It resumes a broken watch, and relists if the watch cannot resume. If
// you apply all events in order, you get the state of the collection.
//
// A [Client] sends the requests over a [Transport]. Packages transport/http and transport/ws provide transports. A
// custom [ListerWatcher] follows another system, as examples/etcd shows. Package cache applies the events to a store.
//
//	client, err := lw.NewClient(transport, lw.Pods("default"), lw.RawCodec{}, nil)
//	…
//	for event := range lw.ListAndWatch(ctx, client, nil) {
//		fmt.Println(event.Type, event.ResourceVersion)
//	}
//
// # Objects
//
// An [Object] holds its JSON text. The client validates the text and reads the metadata in a single pass over the
// incoming bytes. [Object.Get] reads any other field on demand.
//
// The JSON syntax is that of encoding/json, with a maximum nesting depth of 1,000 levels. If a member occurs twice, the
// last value counts. Invalid UTF-8 is kept in the text and decodes as U+FFFD.
//
// # Errors
//
// A stream ends only if its context is done, its consumer stops, or [Options.StopOn] returns true. Every failure is an
// [Interrupted] event with a typed cause:
//
//   - *[StatusError]: the server returned an error.
//   - An error that matches [ErrInvalidResponse]: the response is not valid.
//   - [ErrWatchClosed]: the server closed the watch cleanly.
//   - An error from the transport.
//
// [Options.Warn] receives a warning with the cause and the remedy. By default the stream logs to slog.Default().
//
// # Concurrency
//
// Objects, clients and options may be shared between goroutines. The package has no global state. A stream runs in the
// goroutine of its caller. If [Options.Wake] is set, each request uses one more goroutine, which ends with the request.
//
// # WebAssembly
//
// The package supports GOOS=js with the same behavior, but logs to console.warn by default. To keep the WASM module
// small, it does not import net/http, fmt or packages that use reflection there.
package lw
