package lw

import (
	"context"
	"io"
)

// Transport opens a GET on one API server and returns the body as it streams. It knows bytes, not events. A watch over
// WebSocket is the same stream: its messages, joined by newlines.
//
// Open returns a *[StatusError] when the server refused (make it with [ReadStatusError]), and context.Cause(ctx) when ctx
// ended. The body's Read returns io.EOF after a clean end, context.Cause(ctx) when ctx ended, and whatever broke the
// connection otherwise. A Transport may be used from many goroutines at once.
type Transport interface {
	Open(ctx context.Context, req *Request) (io.ReadCloser, error)
}

// Request is one GET.
type Request struct {
	Path   string // from the server's root, escaped, as "/api/v1/pods"
	Query  string // escaped, without the question mark, as "limit=500&resourceVersion=0"
	Accept string // the media types wanted; "" means application/json
	Watch  bool   // the response is an endless stream of events
}
