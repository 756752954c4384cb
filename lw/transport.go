package lw

import (
	"context"
	"io"
)

// Transport opens a GET on one API server and returns the body as it streams. It knows bytes, not events. A watch over
// WebSocket is the same stream: its messages, joined by newlines.
//
// Open returns a *[StatusError] for an error response (see [ReadStatusError]), and context.Cause(ctx) if ctx ended. The
// body's Read returns io.EOF after a clean end, context.Cause(ctx) if ctx ended, and otherwise the error of the connection.
// Errors must not contain the credential. If the body has a method Redact(text string) string, the client calls it for text
// from the server before the text becomes a part of an error. It returns the text without the credential. A Transport that
// wraps the bodies of another one must forward the method. Many goroutines may use a Transport.
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
