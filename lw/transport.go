package lw

import (
	"context"
	"io"
)

// Transport sends GET requests to one API server and streams the response bodies. A Transport must be safe for
// concurrent use.
//
// Open returns a *[StatusError] for an error response, for example from [ReadStatusError]. It returns
// context.Cause(ctx) if ctx is done. The Read method of the body returns io.EOF after a clean close, context.Cause(ctx)
// if ctx is done, and otherwise the connection error. A WebSocket transport joins the messages of a watch with
// newlines.
//
// Errors must not contain the credential. If the body has a method Redact(text string) string, it must return the text
// without the credential. The client calls it for all server text that becomes part of an error. A Transport that wraps
// the bodies of another Transport must forward the method.
type Transport interface {
	Open(ctx context.Context, req *Request) (io.ReadCloser, error)
}

// Request is a GET request.
type Request struct {
	Path   string // escaped path from the server's root, for example "/api/v1/pods"
	Query  string // escaped query without the question mark, for example "limit=500&resourceVersion=0"
	Accept string // Accept header, or "" for application/json
	Watch  bool   // whether the response is an endless stream of events
}
