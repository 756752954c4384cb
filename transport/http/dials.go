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

// maxDials is the number of connections that are dialed at once, unless requests can share an HTTP/2 connection.
const maxDials = 100

// boundedDialer is a round tripper to one server that bounds the connections dialed at once.
//
// net/http dials a connection for every request that finds none with room. So bounded sends a request without the
// permission to dial first. A request that finds no connection waits for a permit, and is then sent with it. The permit is
// released when the request has a connection. The next request often finds room on that connection, and does not dial.
type boundedDialer struct {
	transport *http.Transport
	shared    *permits // for requests that may share a connection
	single    *permits // for requests that need HTTP/1.1
}

func newBoundedDialer(transport *http.Transport, scheme string) *boundedDialer {
	b := &boundedDialer{transport: transport, shared: newPermits(1), single: newPermits(maxDials)}
	if scheme == "http" { // always HTTP/1.1
		b.shared = b.single
	}
	transport.DialContext = withPermit(transport.DialContext)
	if transport.DialTLSContext != nil {
		transport.DialTLSContext = withPermit(transport.DialTLSContext)
	}
	return b
}

// RoundTrip implements [http.RoundTripper].
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

// try sends a request. It releases the permit as soon as the request has a connection, and reports a failure to get one
// to the requests that wait for a permit.
func (b *boundedDialer) try(request *http.Request, p *permit) (*http.Response, error) {
	ctx := context.WithValue(request.Context(), permitKey{}, p)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: p.connected})
	response, err := b.transport.RoundTrip(request.WithContext(ctx))
	if err != nil && p.held.Load() && ctx.Err() == nil {
		p.from.fail(err)
	}
	p.release()
	return response, err
}

// CloseIdleConnections closes the idle connections of the transport.
func (b *boundedDialer) CloseIdleConnections() { b.transport.CloseIdleConnections() }

var errNoPermit = errors.New("http: no connection has room for the request")

type permitKey struct{}

// withPermit makes a dial function fail with errNoPermit unless the request holds a permit.
func withPermit(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if p, ok := ctx.Value(permitKey{}).(*permit); ok && !p.held.Load() {
			return nil, errNoPermit
		}
		return dial(ctx, network, address)
	}
}

// permit allows one request to dial while it is held.
type permit struct {
	from *permits
	held atomic.Bool
}

// connected releases the permit when the request has a connection.
func (p *permit) connected(info httptrace.GotConnInfo) {
	if !p.held.Load() {
		return
	}
	if conn, ok := info.Conn.(*tls.Conn); !ok || conn.ConnectionState().NegotiatedProtocol != "h2" {
		p.from.widen()
	}
	p.release()
}

func (p *permit) release() {
	if p.held.CompareAndSwap(true, false) {
		p.from.available <- struct{}{}
	}
}

// permits bounds how many requests dial at once.
type permits struct {
	available chan struct{}

	mu      sync.Mutex
	total   int
	failure *dialFailure // the next one
}

// dialFailure is a dial that failed. It ends the wait of all requests that waited for a permit at that time.
type dialFailure struct {
	done chan struct{}
	err  error
}

func newPermits(n int) *permits {
	s := &permits{available: make(chan struct{}, maxDials), failure: &dialFailure{done: make(chan struct{})}}
	s.grow(n)
	return s
}

// widen allows maxDials at once, because the server speaks HTTP/1.1 and each request needs a connection.
func (s *permits) widen() { s.grow(maxDials) }

func (s *permits) grow(total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.total < total; s.total++ {
		s.available <- struct{}{}
	}
}

// wait returns a permit, or the error of a dial that failed while it waited. A server that cannot be reached thus fails
// all requests after one timeout.
func (s *permits) wait(ctx context.Context) (*permit, error) {
	s.mu.Lock()
	next := s.failure
	s.mu.Unlock()
	select {
	case <-s.available:
		p := &permit{from: s}
		p.held.Store(true)
		return p, nil
	case <-next.done:
		return nil, next.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *permits) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure.err = err
	close(s.failure.done)
	s.failure = &dialFailure{done: make(chan struct{})}
}
