//go:build !js

package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// maxDials is the maximum number of concurrent dials if requests cannot share an HTTP/2 connection. Without a limit,
// thousands of watches would dial at the same time.
const maxDials = 100

// boundedDialer is a round tripper to one server that limits concurrent dials.
//
// net/http dials a connection for every request that finds no available connection. To avoid needless dials,
// boundedDialer first sends a request without permission to dial. If no connection is available, the request waits for
// a permit and is sent again. The permit is released when the request has a connection. The next request can then often
// share that connection instead of dialing.
type boundedDialer struct {
	transport *http.Transport
	shared    *permits // permits for requests that can share an HTTP/2 connection
	single    *permits // permits for requests that need HTTP/1.1
}

// newBoundedDialer limits the dials of transport. For an https URL, there is only one permit at first. Most servers
// speak HTTP/2, so all requests can then share the first connection. When this connection is open, the transport knows
// whether the server speaks only HTTP/1.1. In that case, the method `connected` adds the other permits.
func newBoundedDialer(transport *http.Transport, scheme string) *boundedDialer {
	b := &boundedDialer{transport: transport, shared: newPermits(1), single: newPermits(maxDials)}
	if scheme == "http" { // plain http URLs do not support HTTP/2
		b.shared = b.single
	}
	transport.DialContext = withPermit(transport.DialContext)
	if transport.DialTLSContext != nil {
		transport.DialTLSContext = withPermit(transport.DialTLSContext)
	}
	return b
}

func (b *boundedDialer) RoundTrip(request *http.Request) (*http.Response, error) {
	from := b.shared
	if request.Header.Get("Upgrade") != "" {
		from = b.single
	}
	response, err := b.try(request, &permit{from: from})
	for errors.Is(err, errNoPermit) {
		p, failure := from.wait(request.Context())
		if failure != nil {
			return nil, failure
		}
		response, err = b.try(request, p)
	}
	return response, err
}

// try sends a request. If the permit p is not held, the request can only use an existing connection. try releases the
// permit as soon as the request has a connection. If the dial fails, all requests that are waiting for a permit fail
// with the same error.
func (b *boundedDialer) try(request *http.Request, p *permit) (*http.Response, error) {
	ctx := context.WithValue(request.Context(), permitKey{}, p) // withPermit looks it up when net/http dials
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: p.connected})
	response, err := b.transport.RoundTrip(request.WithContext(ctx))
	if err != nil && p.held.Load() && ctx.Err() == nil {
		p.from.fail(err)
	}
	p.release()
	return response, err
}

// errNoPermit makes RoundTrip wait for a permit. Callers never see it.
var errNoPermit = errors.New("http: no connection is available for the request")

type permitKey struct{}

// withPermit wraps a dial function. If the request does not hold a permit, the returned function fails with
// errNoPermit.
func withPermit(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if p, ok := ctx.Value(permitKey{}).(*permit); ok && !p.held.Load() {
			return nil, errNoPermit
		}
		return dial(ctx, network, address)
	}
}

// permit is the permission of one request to dial. The request may dial only while held is true.
type permit struct {
	from *permits
	held atomic.Bool
}

// connected releases the permit when the request has a connection and no longer needs to dial.
func (p *permit) connected(info httptrace.GotConnInfo) {
	if !p.held.Load() {
		return
	}
	if conn, ok := info.Conn.(*tls.Conn); !ok || conn.ConnectionState().NegotiatedProtocol != "h2" {
		p.from.grow(maxDials) // each HTTP/1.1 request needs its own connection
	}
	p.release()
}

func (p *permit) release() {
	if p.held.CompareAndSwap(true, false) {
		p.from.available <- struct{}{}
	}
}

// permits limits the number of requests that dial concurrently. The channel available contains one element for each
// unused permit.
type permits struct {
	available chan struct{}

	mu     sync.Mutex
	total  int
	failed context.Context // canceled when the next dial fails; the cause is the error of that dial
	cancel context.CancelCauseFunc
}

func newPermits(n int) *permits {
	s := &permits{available: make(chan struct{}, maxDials)}
	s.failed, s.cancel = context.WithCancelCause(context.Background())
	s.grow(n)
	return s
}

// grow raises the number of permits to total.
func (s *permits) grow(total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.total < total; s.total++ {
		s.available <- struct{}{}
	}
}

// wait blocks until a permit is available and returns it. If another request's dial fails first, wait returns the error
// of that dial. So if the server is unreachable, all waiting requests fail after a single dial timeout.
func (s *permits) wait(ctx context.Context) (*permit, error) {
	s.mu.Lock()
	failed := s.failed
	s.mu.Unlock()
	select {
	case <-s.available:
		p := &permit{from: s}
		p.held.Store(true)
		return p, nil
	case <-failed.Done():
		return nil, context.Cause(failed)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fail makes all current calls of wait return err. Otherwise, the requests to an unreachable server would time out one
// after another.
func (s *permits) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(err)
	s.failed, s.cancel = context.WithCancelCause(context.Background())
}

// These limits apply to the HTTP/2 connections that one request opens. With the default client, a request needs a
// second connection only if the server does not serve the request on the first one, because boundedDialer lets one
// request dial at a time. With a custom client, other requests may also use up the connection that the request has
// opened. For example, when 1,000 requests were sent to a server with 10 streams per connection, one of them opened 16
// connections.
const (
	maxConnections       = 3
	maxCustomConnections = 20
)

// errUnserved reports that a request has opened the maximum number of HTTP/2 connections.
var errUnserved = errors.New("http: the server accepted HTTP/2 connections but did not serve the request; it may be shutting down")

// limitConnections returns a copy of a request that may open only a limited number of HTTP/2 connections, given by the
// parameter `most`. When the copy needs another connection, it fails with errUnserved. The limit is necessary because a
// server can close each connection with GOAWAY before it serves the request. net/http would then open the next
// connection at once, and so on forever. The caller must call end when the response has ended.
func limitConnections(request *http.Request, most int32) (limited *http.Request, end func()) {
	ctx, cancel := context.WithCancelCause(request.Context())
	var opened atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { // net/http calls this before each attempt
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
