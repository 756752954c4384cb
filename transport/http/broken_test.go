//go:build !js

package http_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/stretchr/testify/require"
)

// hello writes and flushes the first five bytes of a response body. The body stays open.
func hello(w http.ResponseWriter) {
	_, _ = io.WriteString(w, "hello")
	_ = http.NewResponseController(w).Flush()
}

// openHello opens a response body, reads the five bytes that hello wrote, and returns the body.
func openHello(t *testing.T, ctx context.Context, transport *lwhttp.Transport) io.ReadCloser {
	t.Helper()
	body, err := transport.Open(ctx, pods)
	require.NoError(t, err)
	t.Cleanup(func() { _ = body.Close() })
	_, err = io.ReadFull(body, make([]byte, 5))
	require.NoError(t, err)
	return body
}

func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	transport, err := lwhttp.New("http://"+listener.Addr().String(), nil)
	require.NoError(t, err)
	_, err = get(t, transport, pods)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestTruncatedBodyFails(t *testing.T) {
	proceed := make(chan struct{})
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		hello(w)
		<-proceed
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, server *httptest.Server, transport *lwhttp.Transport) {
		body := openHello(t, t.Context(), transport)
		proceed <- struct{}{}
		_, err := body.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotEqual(t, io.EOF, err)
		if server.TLS == nil { // over HTTP/2, net/http returns a different error
			require.Equal(t, io.ErrUnexpectedEOF, err)
		}
	})
}

func TestConnectionResetInBody(t *testing.T) {
	proceed := make(chan struct{})
	server := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		hello(w)
		<-proceed
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = connection.(*net.TCPConn).SetLinger(0)
		_ = connection.Close()
	})
	body := openHello(t, t.Context(), connect(t, server, nil))
	proceed <- struct{}{}
	_, err := body.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

var errOurs = errors.New("canceled by the caller")

// In every phase of a request, cancellation must return the cause of the context. The server must notice the
// cancellation. Otherwise the test would hang, because the server's Close waits for all requests.
func TestCancellationReturnsContextCause(t *testing.T) {
	started := make(chan struct{}, 1)
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refusal" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		if r.URL.Path != "/silent" {
			hello(w)
		}
		if r.URL.Path != "/late" {
			started <- struct{}{}
		}
		<-r.Context().Done()
	}, func(t *testing.T, server *httptest.Server, transport *lwhttp.Transport) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errOurs)
		_, err := transport.Open(ctx, pods)
		require.Equal(t, errOurs, err, "canceled before the request")
		require.Empty(t, started, "no request may be sent after the cancellation")

		for _, path := range []string{"/silent", "/refusal"} {
			ctx, cancel = context.WithCancelCause(t.Context())
			go func() {
				<-started
				cancel(errOurs)
			}()
			_, err = transport.Open(ctx, requestFor(path, ""))
			require.Equal(t, errOurs, err, "canceled while waiting for a response or reading an incomplete error body")
		}

		ctx, cancel = context.WithCancelCause(t.Context())
		body := openHello(t, ctx, transport)
		<-started
		cancel(errOurs)
		_, err = body.Read(make([]byte, 1))
		require.Equal(t, errOurs, err, "canceled while reading the body")

		ctx, stop := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, errOurs)
		defer stop()
		body, err = transport.Open(ctx, requestFor("/late", ""))
		if err == nil { // the deadline may pass before or after Open returns
			_, err = io.Copy(io.Discard, body)
			require.NoError(t, body.Close())
		}
		require.Equal(t, errOurs, err, "deadline exceeded")
	})
}

// A request that is canceled during a dial must return at once, although net/http continues the dial for later
// requests.
func TestCancellationWhileDialing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(errOurs)
		<-ctx.Done()
		return nil, ctx.Err()
	}}}
	transport, err := lwhttp.New("http://k8s.example", &lwhttp.Options{Client: client})
	require.NoError(t, err)
	_, err = transport.Open(ctx, pods)
	require.Equal(t, errOurs, err)
	client.CloseIdleConnections() // stops the dial
}

func TestBodyClosedEarly(t *testing.T) {
	ended := make(chan struct{})
	bothProtocols(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			hello(w)
		}
		ended <- struct{}{}
	}, func(t *testing.T, server *httptest.Server, transport *lwhttp.Transport) {
		body := openHello(t, t.Context(), transport)
		require.NoError(t, body.Close())
		<-ended
		_, err := body.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotEqual(t, io.EOF, err, "after Close, Read must not return io.EOF")
	})
}
