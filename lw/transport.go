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
// newlines. Errors must not contain the credential.
//
// A Transport that wraps another Transport must pass on all fields of the Response. To replace the body, replace only
// the ReadCloser field.
type Transport interface {
	Open(ctx context.Context, req *Request) (*Response, error)
}

// Request is a GET request.
type Request struct {
	Path   string // escaped path from the server's root, for example "/api/v1/pods"
	Query  string // escaped query without the question mark, for example "limit=500&resourceVersion=0"
	Accept string // Accept header, or "" for application/json
	Watch  bool   // whether the response is an endless stream of events

	// IfNoneMatch is the ETag of an earlier response to the same request, or "". If the resource has not changed, a
	// server that supports ETags responds without a body, and Open returns an error that matches [ErrNotModified]. A
	// kube-apiserver supports ETags only for aggregated discovery.
	IfNoneMatch string
}

// Response is the response to a successful [Request]. The caller reads the response body from it and must close it.
type Response struct {
	io.ReadCloser // response body

	// ETag is the ETag header, or "". A watch has none. A web page can read the header of another origin only if the
	// server exposes it with CORS. A kube-apiserver does not.
	ETag string

	// Redact returns text without the credential of the request. The client calls it for all server text that becomes
	// part of an error, because a server may repeat the credential. A nil Redact means that the response cannot contain
	// the credential.
	Redact func(text string) string
}

// redaction adds the method text to a [Response].Redact func. A nil redaction returns text unchanged, so callers need
// not check for nil.
type redaction func(text string) string

func (r redaction) text(text string) string {
	if r == nil {
		return text
	}
	return r(text)
}
