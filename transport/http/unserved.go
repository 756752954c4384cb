//go:build !js

package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// These limits apply to the HTTP/2 connections that one request opens. With the default client, a request needs a second
// connection only if the server does not serve it on the first. With a custom client, concurrent requests also take each
// other's connections: one of 1,000 requests opened 16 connections to a server with 10 streams per connection.
const (
	maxConnections       = 3
	maxCustomConnections = 20
)

// errUnserved reports that a request has opened the maximum number of HTTP/2 connections.
var errUnserved = errors.New("http: the server accepted HTTP/2 connections but did not serve the request; it may be shutting down")

// limitConnections returns a copy of a request that fails with errUnserved after it has opened most HTTP/2 connections.
// The limit is necessary because a server can close each connection with GOAWAY before it serves the request. net/http
// then opens the next connection at once and without limit. The caller must call end when the response has ended.
func limitConnections(request *http.Request, most int32) (limited *http.Request, end func()) {
	ctx, cancel := context.WithCancelCause(request.Context())
	var opened atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { // called before each attempt of net/http
			if opened.Load() >= most {
				cancel(errUnserved)
			}
		},
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			if err == nil && state.NegotiatedProtocol == "h2" {
				opened.Add(1)
			}
		},
	})
	return request.WithContext(ctx), func() { cancel(nil) }
}
