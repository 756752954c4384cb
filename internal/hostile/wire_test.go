package hostile

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/certs"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// token is the credential that must not appear in any message.
const token = "tOk3nQ7zXw9Lm2Vb5Rk8Jd4Hs6Pf1Yc0"

// source returns a transport to the server. search fails the test if a string contains the token. It is nil in
// memory, where requests carry no token. stop closes the transport.
func (s *Scenario) source(t *testing.T, m *Server) (client lw.Transport, search func(string), stop func()) {
	if !s.network && s.wire == nil {
		memory, err := lwhttp.New("http://api.test", &lwhttp.Options{Client: &http.Client{Transport: m}})
		require.NoError(t, err)
		return memory, nil, memory.Close
	}
	n := &network{scenario: s, server: m, accepted: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: n.dial}
	scheme := "http"
	if s.tls {
		authority := certs.NewAuthority(t)
		scheme, n.config = "https", authority.Config(t, "api.test")
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = &tls.Config{RootCAs: authority.Pool()}, true
	}
	server := &http.Server{Handler: n, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(n) }()
	over, err := lwhttp.New(scheme+"://api.test", &lwhttp.Options{Client: &http.Client{Transport: transport}, Token: token})
	require.NoError(t, err)
	closeAll := func() {
		over.Close()
		transport.CloseIdleConnections()
		_ = server.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, conn := range n.encrypted {
			_ = conn.Close()
		}
	}
	if s.ws {
		return lwws.New(over), leaks(t), closeAll
	}
	return over, leaks(t), closeAll
}

// network connects clients to a server through pipes. It is the server's listener and handler.
type network struct {
	scenario *Scenario
	server   *Server
	config   *tls.Config // nil without TLS
	accepted chan net.Conn
	closed   chan struct{}

	mu        sync.Mutex
	dialed    int
	encrypted []net.Conn // net/http does not close an HTTP/2 connection that has received GOAWAY before its first request
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed++
	near, far := net.Pipe()
	x := &exchange{Conn: far, m: n.server, nth: n.dialed, config: n.config}
	switch {
	case n.config == nil:
		go func() { n.accepted <- x }()
	case n.server.honest.Load():
		n.encrypted = append(n.encrypted, far)
		go func() { n.accepted <- tls.Server(far, n.config) }()
	default:
		n.encrypted = append(n.encrypted, far)
		go func() {
			defer x.Close()
			n.scenario.wire(x)
		}()
	}
	return near, nil
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.accepted:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	close(n.closed)
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// ServeHTTP passes a request's connection to the scenario's wire function. If there is none, or once the server behaves,
// it serves requests itself and accepts only those with the token.
func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n.server.honest.Load() || n.scenario.wire == nil {
		if r.Header.Get("Authorization") != "Bearer "+token || r.Host != "api.test" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, Status(401, "Unauthorized", "Unauthorized", ""))
			return
		}
		n.server.ServeHTTP(w, r)
		return
	}
	conn, reader, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		cancel()
	}()
	x := conn.(*exchange)
	x.host, x.request, x.watch, x.ctx = r.Host, r, r.URL.Query().Get("watch") != "", ctx
	n.scenario.wire(x)
}

// say writes text to the connection and reports whether it succeeded.
func (x *exchange) say(text string) bool {
	_, err := io.WriteString(x.Conn, text)
	return err == nil
}

// sleep waits for d and returns true, or returns false if the client closes the connection first.
func (x *exchange) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-x.ctx.Done():
		return false
	}
}

// drip passes text to send, one byte per second. If the server stops misbehaving, drip passes the rest at once.
func (x *exchange) drip(text string, send func(string) bool) {
	for ; text != "" && !x.m.honest.Load(); text = text[1:] {
		if !send(text[:1]) || !x.sleep(time.Second) {
			return
		}
	}
	if text != "" {
		send(text)
	}
}

// reply writes a response. Each line of headers must end with CRLF.
func (x *exchange) reply(code int, headers, text string) {
	x.say(fmt.Sprintf("HTTP/1.1 %d %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", code, http.StatusText(code), headers, len(text), text))
}

// document returns the JSON of a correct, complete list.
func (x *exchange) document() string {
	at := x.m.now()
	return List(x.m.version(at), "", x.m.items(x.m.at(at)))
}

// news changes a random object and returns the watch event for this change.
func (x *exchange) news() string {
	x.m.Step()
	changes, _, _ := x.m.since(x.m.now() - 1)
	return x.m.event(changes[len(changes)-1])
}

func (x *exchange) upgrade() { x.say(handshake(x.request)) }

// frame writes a WebSocket frame and reports whether it succeeded.
func (x *exchange) frame(opcode byte, payload string) bool {
	return x.say(encodeFrame(opcode, payload))
}
