//go:build !js

package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// network is a fake network. It counts the dials and handles each dial with the function in the field dial.
type network struct {
	mu                      sync.Mutex
	dialed, pending, atOnce int
	dial                    func(ctx context.Context, n int) (net.Conn, error) // n is the number of this dial, starting at 1
}

// connectVia returns a transport to the API server at a URL. The transport dials through n.
func connectVia(t *testing.T, server string, n *network) *Transport {
	transport, err := New(server, &Options{InsecureSkipVerify: true})
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	transport.state.active.authenticated.(*boundedDialer).transport.DialContext = withPermit(n.DialContext)
	return transport
}

func (n *network) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed++
	n.pending++
	n.atOnce = max(n.atOnce, n.pending)
	number := n.dialed
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.pending--
	}()
	return n.dial(ctx, number)
}

var watchRequest = &lw.Request{Path: "/", Watch: true}

// If the server is unreachable, all waiting requests must fail after one dial timeout. The next request must dial
// again.
func TestHungDialFailsWaitingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("i/o timeout")
		hung := &network{dial: func(context.Context, int) (net.Conn, error) {
			time.Sleep(30 * time.Second)
			return nil, failed
		}}
		transport := connectVia(t, "https://127.0.0.1", hung)
		began := time.Now()
		var requests sync.WaitGroup
		for range 50 {
			requests.Go(func() {
				_, err := transport.Open(t.Context(), watchRequest)
				require.ErrorIs(t, err, failed)
			})
		}
		requests.Wait()
		require.Equal(t, 30*time.Second, time.Since(began))
		require.Equal(t, 1, hung.dialed)
		_, err := transport.Open(t.Context(), watchRequest)
		require.ErrorIs(t, err, failed)
		require.Equal(t, 2, hung.dialed)
	})
}

// A canceled request must stop waiting for the dial of another request. Later requests must still be able to dial.
func TestCancellationEndsWaitForDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hung := &network{dial: func(context.Context, int) (net.Conn, error) {
			<-release
			return nil, io.EOF
		}}
		transport := connectVia(t, "https://127.0.0.1", hung)
		open := func() (end context.CancelCauseFunc, result chan error) {
			ctx, end := context.WithCancelCause(t.Context())
			result = make(chan error, 1)
			go func() {
				_, err := transport.Open(ctx, watchRequest)
				result <- err
			}()
			synctest.Wait()
			return end, result
		}
		stopped := errors.New("stopped")
		endFirst, first := open()
		endSecond, second := open()
		_, third := open()
		endSecond(stopped)
		require.Equal(t, stopped, <-second)
		require.Equal(t, 1, hung.dialed)
		endFirst(stopped)
		require.Equal(t, stopped, <-first)
		synctest.Wait()
		require.Equal(t, 2, hung.dialed, "the third request must dial after the first request is canceled")
		close(release)
		require.ErrorIs(t, <-third, io.EOF)
	})
}

func TestRequestsWithAConnectionDoNotWait(t *testing.T) {
	end := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	server.EnableHTTP2 = true
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2}
	server.StartTLS()
	t.Cleanup(server.Close)
	dialing, release := make(chan struct{}), make(chan struct{})
	transport := connectVia(t, server.URL, &network{dial: func(ctx context.Context, n int) (net.Conn, error) {
		if n == 1 {
			return dialer.DialContext(ctx, "tcp", server.Listener.Addr().String())
		}
		close(dialing)
		<-release
		return nil, io.EOF
	}})
	open := func() io.ReadCloser {
		body, err := transport.Open(t.Context(), watchRequest)
		require.NoError(t, err)
		return body
	}
	first, second := open(), open()
	waiting := make(chan error, 1)
	go func() {
		_, err := transport.Open(t.Context(), watchRequest)
		waiting <- err
	}()
	<-dialing
	close(end)
	for _, body := range []io.ReadCloser{first, second} {
		_, err := io.Copy(io.Discard, body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
	}
	require.NoError(t, open().Close())
	close(release)
	require.ErrorIs(t, <-waiting, io.EOF)
}

// 300 HTTP/1.1 watches need 300 connections, but at most 100 dials may be concurrent. Over TLS, the first dial shows
// that the server does not support HTTP/2.
func TestLimitsConcurrentDials(t *testing.T) {
	const watches = 300
	certificate := testCertificate()
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, SessionTicketsDisabled: true}
	for server, seconds := range map[string]time.Duration{"http://127.0.0.1": 3, "https://127.0.0.1": 1 + 3} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{dial: func(context.Context, int) (net.Conn, error) {
				time.Sleep(time.Second)
				client, remote := net.Pipe()
				if server[:5] == "https" {
					remote = tls.Server(remote, config)
				}
				go answerHTTP1(remote)
				return client, nil
			}}
			transport := connectVia(t, server, n)
			began := time.Now()
			var live, bodies sync.WaitGroup
			ctx, end := context.WithCancel(t.Context())
			for range watches {
				live.Add(1)
				bodies.Go(func() {
					body, err := transport.Open(ctx, watchRequest)
					live.Done()
					require.NoError(t, err)
					<-ctx.Done()
					require.NoError(t, body.Close())
				})
			}
			live.Wait()
			require.Equal(t, seconds*time.Second, time.Since(began))
			require.Equal(t, []int{watches, 100}, []int{n.dialed, n.atOnce})
			end()
			bodies.Wait()
			time.Sleep(time.Second) // since Go 1.27, net/http drains closed bodies in the background
		})
	}
}

// answerHTTP1 answers one HTTP/1.1 request on a connection. The response body stays empty and open.
func answerHTTP1(conn net.Conn) {
	defer conn.Close()
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	_, _ = conn.Read(make([]byte, 1))
}

// An upgrade always needs a separate connection, so it must not wait until an HTTP/2 connection is open.
func TestUpgradesDialSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hung := &network{dial: func(context.Context, int) (net.Conn, error) {
			<-release
			return nil, io.EOF
		}}
		transport := connectVia(t, "https://127.0.0.1", hung)
		var requests sync.WaitGroup
		for range 150 {
			requests.Go(func() {
				_, err := transport.Open(t.Context(), watchRequest)
				require.Error(t, err)
			})
			requests.Go(func() {
				_, _, _, err := transport.Upgrade(t.Context(), watchRequest, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}})
				require.Error(t, err)
			})
		}
		synctest.Wait()
		require.Equal(t, 1+100, hung.dialed)
		close(release)
		requests.Wait()
	})
}
