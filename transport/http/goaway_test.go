//go:build !js

package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// A server accepts every HTTP/2 connection but serves no request. net/http alone would immediately open new
// connections, without limit. With this transport, the request must fail, so that the stream reports an interruption
// and waits.
func TestLimitsConnectionsThatServeNoRequest(t *testing.T) {
	const (
		settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		goAway   = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	)
	config := &tls.Config{Certificates: []tls.Certificate{testCertificate()}, NextProtos: []string{"h2"}, SessionTicketsDisabled: true}
	for name, c := range map[string]struct{ greeting, answer string }{
		"GOAWAY when it accepts a connection": {settings + goAway, ""},
		"GOAWAY before the response":          {settings, goAway},
	} {
		for client, most := range map[string]int{"default": 3, "custom": 20} {
			t.Run(name+"/"+client, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var connections sync.WaitGroup
					var open atomic.Int32
					stop := make(chan struct{})
					n := &network{dial: func(_ context.Context, n int) (net.Conn, error) {
						if n > 10_000 {
							return nil, errors.New("too many connections")
						}
						near, far := net.Pipe()
						open.Add(1)
						connections.Go(func() {
							serveNothing(tls.Server(far, config), c.greeting, c.answer)
							open.Add(-1)
						})
						connections.Go(func() {
							<-stop
							_ = far.Close()
						})
						return near, nil
					}}
					transport := connectVia(t, "https://127.0.0.1", n)
					if client == "custom" {
						transport = connectWithClient(t, n)
					}
					opens, causes := interruptions(t, transport)
					synctest.Wait()
					require.Greater(t, len(causes), 3)
					for _, cause := range causes {
						require.ErrorIs(t, cause, errUnserved)
					}
					require.LessOrEqual(t, n.dialed, (most+1)*opens) // net/http dials once more before it sees that the request has failed
					transport.Close()
					if client == "default" { // net/http closes a connection without requests only when its idle timeout ends
						time.Sleep(90 * time.Second)
						synctest.Wait()
						require.Zero(t, open.Load())
					}
					close(stop)
					connections.Wait()
				})
			})
		}
	}
}

// serveNothing sends the bytes `greeting` when it accepts a connection, and `answer` after each request.
func serveNothing(conn net.Conn, greeting, answer string) {
	defer conn.Close()
	send := make(chan string, 100) // a separate goroutine writes, because a write to a pipe blocks until the peer reads
	defer close(send)
	go func() {
		for frame := range send {
			_, _ = io.WriteString(conn, frame)
		}
	}()
	send <- greeting
	if _, err := io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	for header := make([]byte, 9); ; {
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(header[0])<<16|int64(header[1])<<8|int64(header[2])); err != nil {
			return
		}
		if header[3] == 1 { // HEADERS
			send <- answer
		}
	}
}

// connectWithClient returns a transport with a custom http.Client that dials through n.
func connectWithClient(t *testing.T, n *network) *Transport {
	native := &http.Transport{DialContext: n.DialContext, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(native.CloseIdleConnections)
	transport, err := New("https://127.0.0.1", &Options{Client: &http.Client{Transport: native}})
	require.NoError(t, err)
	return transport
}

// interruptions runs a stream for a minute. It returns the number of requests and the causes of the interruptions.
func interruptions(t *testing.T, transport *Transport) (opens int, causes []error) {
	client, err := lw.NewClient(transport, lw.Pods(""), lw.RawCodec{}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx = lw.WithTrace(ctx, &lw.Trace{Open: func(*lw.Request) { opens++ }})
	for event := range lw.ListAndWatch(ctx, client, &lw.Options{Warn: slog.New(slog.DiscardHandler).Warn}) {
		if event.Type == lw.Interrupted {
			causes = append(causes, event.Interruption.Err)
		}
	}
	return opens, causes
}
