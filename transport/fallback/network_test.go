//go:build !js

package fallback

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/seed-6d2a410a/listwatch/transport/ws"
	"github.com/stretchr/testify/require"
)

// memoryNetwork is an in-memory network with one server. Unlike real sockets, it works with synctest's fake clock.
type memoryNetwork struct {
	conns chan net.Conn
	gone  chan struct{}
	once  sync.Once
}

func newMemoryNetwork() *memoryNetwork {
	return &memoryNetwork{conns: make(chan net.Conn), gone: make(chan struct{})}
}

func (w *memoryNetwork) Accept() (net.Conn, error) {
	select {
	case conn := <-w.conns:
		return conn, nil
	case <-w.gone:
		return nil, net.ErrClosed
	}
}

func (w *memoryNetwork) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, remote := net.Pipe()
	select {
	case w.conns <- remote:
		return client, nil
	case <-w.gone:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (w *memoryNetwork) Close() error   { w.once.Do(func() { close(w.gone) }); return nil }
func (w *memoryNetwork) Addr() net.Addr { return &net.TCPAddr{} }

// client returns an http.Transport that dials the server of this network.
func (w *memoryNetwork) client(t *testing.T) *http.Transport {
	transport := &http.Transport{DialContext: w.dial}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// proxy is the handler of a test's proxy. It usually forwards the request to the server through the ReverseProxy.
type proxy func(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy)

// fixture contains a fake API server behind a proxy, and a fallback.Transport that all streams use.
type fixture struct {
	t      *testing.T
	server *lwtest.Server
	down   atomic.Bool // if true, the server is unavailable and the proxy responds with 502
	over   *Transport

	mu      sync.Mutex
	changes []error // causes that the transport passed to Trace.Switched
}

// play runs a test with a server behind a proxy in simulated time. If wsFirst is set, the client prefers WebSocket.
func play(t *testing.T, p proxy, wsFirst bool, do func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		back, front := newMemoryNetwork(), newMemoryNetwork()
		server, err := lwtest.Start(&lwtest.Options{Listener: back})
		require.NoError(t, err)
		t.Cleanup(server.Close)
		s := &fixture{t: t, server: server}
		s.create("first")
		to := &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "server"}) },
			Transport: back.client(t), ErrorLog: log.New(io.Discard, "", 0), FlushInterval: -1,
		}
		between := &http.Server{ErrorLog: to.ErrorLog, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.down.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			p(w, r, to)
		})}
		t.Cleanup(func() { _ = between.Close() })
		go func() { _ = between.Serve(front) }()
		client := &http.Client{Transport: front.client(t)}
		over, err := lwhttp.New("http://proxy", &lwhttp.Options{Client: client})
		require.NoError(t, err)
		s.over = New(over, ws.New(over))
		if wsFirst {
			s.over = New(ws.New(over), over)
		}
		do(s)
	})
}

func (s *fixture) create(name string) {
	s.t.Helper()
	_, err := s.server.Put("pods", `{"metadata":{"namespace":"default","name":"`+name+`"}}`)
	require.NoError(s.t, err)
}

// follow runs an informer for Pods until the test ends, and returns its store.
func (s *fixture) follow() *cache.Store[*lw.Object] {
	s.t.Helper()
	client, err := lw.NewClient(s.over, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(s.t, err)
	informer := cache.NewInformer(client, nil)
	ctx, cancel := context.WithCancel(lw.WithTrace(s.t.Context(), &lw.Trace{Switched: s.switched}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = informer.Run(ctx)
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	return informer.Store()
}

func (s *fixture) switched(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = append(s.changes, cause)
}

// requireChanges requires that the transport switched for these causes, in order. A cause is "silent", "unsupported" or
// an HTTP status code.
func (s *fixture) requireChanges(causes ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var words []string
	for _, cause := range s.changes {
		word := cause.Error()
		if status, ok := errors.AsType[*lw.StatusError](cause); ok {
			word = strconv.Itoa(status.Code)
		} else if errors.Is(cause, lw.ErrSilent) {
			word = "silent"
		} else if errors.Is(cause, errors.ErrUnsupported) {
			word = "unsupported"
		}
		words = append(words, word)
	}
	require.Equal(s.t, causes, words)
}

// requireState requires that a store contains the same objects as the server.
func (s *fixture) requireState(store *cache.Store[*lw.Object]) {
	s.t.Helper()
	synctest.Wait()
	_, want := s.server.State("pods")
	names := map[string]bool{}
	for _, pod := range store.List() {
		names[lw.KeyOf(pod).String()] = true
		require.Contains(s.t, want, lw.KeyOf(pod).String())
	}
	require.Len(s.t, names, len(want))
}
