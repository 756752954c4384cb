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

// source returns a transport to the server. search fails the test if a string contains the token. In memory, search is
// nil, because requests carry no token. stop closes the transport.
func (s *Scenario) source(t *testing.T, m *Server) (client lw.Transport, search func(string), stop func()) {
	if !s.network {
		memory, err := lwhttp.New("http://api.test", &lwhttp.Options{Client: &http.Client{Transport: m}})
		require.NoError(t, err)
		return memory, nil, memory.Close
	}
	n := &network{scenario: s, server: m, accepted: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: n.dial}
	scheme := "http"
	if s.accept != nil {
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
	dialed    int        // number of connections so far
	encrypted []net.Conn // closed at the end, because net/http keeps a connection that gets GOAWAY before its first request
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed++
	near, far := net.Pipe()
	switch nth := n.dialed; {
	case n.config == nil:
		go func() { n.accepted <- far }()
	case n.server.honest.Load():
		n.encrypted = append(n.encrypted, far)
		go func() { n.accepted <- tls.Server(far, n.config) }()
	default:
		n.encrypted = append(n.encrypted, far)
		go func() {
			defer far.Close()
			n.scenario.accept(far, n.config, nth)
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

// ServeHTTP rejects requests without the token. Requests to other hosts do not need the token, because the client must
// not send it there.
func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host == "api.test" && r.Header.Get("Authorization") != "Bearer "+token || r.Host != "api.test" && n.server.honest.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, Status(401, "Unauthorized", "Unauthorized", ""))
		return
	}
	n.server.ServeHTTP(w, r)
}

// overNetwork makes scenarios use connections, because raw steps need them.
func overNetwork(scenarios []Scenario) []Scenario {
	for i := range scenarios {
		scenarios[i].network = true
	}
	return scenarios
}

// dripBytes is like drip, but for raw steps.
func (c *call) dripBytes(text string) {
	for ; text != "" && !c.honest.Load(); text = text[1:] {
		c.say(text[:1])
		c.sleep(time.Second)
	}
	c.say(text)
}

// reply writes a response. Each line of headers must end with CRLF.
func (c *call) reply(code int, headers, text string) {
	c.say(fmt.Sprintf("HTTP/1.1 %d %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", code, http.StatusText(code), headers, len(text), text))
}

// document returns the JSON of a correct, complete list.
func (c *call) document() string {
	at := c.now()
	return List(c.version(at), "", c.items(c.at(at)))
}

// news changes a random object and returns the watch event for this change.
func (c *call) news() string {
	c.Step()
	changes, _, _ := c.since(c.now() - 1)
	return c.event(changes[len(changes)-1])
}

func (c *call) upgrade() { c.say(handshake(c.request)) }

// frame writes a WebSocket frame.
func (c *call) frame(opcode byte, payload string) { c.say(encodeFrame(opcode, payload)) }
