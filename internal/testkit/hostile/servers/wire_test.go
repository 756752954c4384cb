package servers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
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

// source returns a transport to the server. The function search fails the test if a string contains the token. search
// is nil if s.wire is nil, because requests then carry no token. The function stop closes the transport.
func (s *server) source(t *testing.T, m *memory) (client lw.Transport, search func(string), stop func()) {
	if s.wire == nil {
		return m, nil, func() {}
	}
	transport := &http.Transport{DisableKeepAlives: true}
	scheme, config := "http", (*tls.Config)(nil)
	if s.tls {
		authority := certs.NewAuthority(t)
		scheme, config = "https", authority.Config(t, "api.test")
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = &tls.Config{RootCAs: authority.Pool()}, true
	}
	var mu sync.Mutex
	dialed := 0
	var unused []net.Conn // net/http does not close an HTTP/2 connection that has received GOAWAY before its first request
	transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		dialed++
		near, far := net.Pipe()
		if s.tls {
			unused = append(unused, far)
		}
		host, _, _ := net.SplitHostPort(address)
		go (&exchange{Conn: far, m: m, host: host, nth: dialed}).answer(s, config)
		return near, nil
	}
	over, err := lwhttp.New(scheme+"://api.test", &lwhttp.Options{Client: &http.Client{Transport: transport}, Token: token})
	require.NoError(t, err)
	closeAll := func() {
		over.Close()
		transport.CloseIdleConnections()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range unused {
			_ = conn.Close()
		}
	}
	if s.ws {
		return lwws.New(over), leaks(t), closeAll
	}
	return over, leaks(t), closeAll
}

// answer reads a request from the connection and responds to it.
func (x *exchange) answer(s *server, config *tls.Config) {
	defer func() { _ = x.Close() }()
	honest := x.m.honest.Load()
	if config != nil && !honest {
		x.config = config
		s.wire(x)
		return
	}
	if config != nil {
		x.Conn = tls.Server(x.Conn, config)
	}
	reader := bufio.NewReader(x)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	x.request, x.watch = request, request.URL.Query().Get("watch") != ""
	ctx, cancel := context.WithCancel(context.Background())
	x.ctx = ctx
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		cancel()
	}()
	if honest {
		x.honestly()
	} else {
		s.wire(x)
	}
}

// honestly forwards a request with the correct token to x.m and writes the response.
func (x *exchange) honestly() {
	if x.request.Header.Get("Authorization") != "Bearer "+token || x.host != "api.test" {
		x.reply(401, "", failure(401, "Unauthorized", "Unauthorized"))
		return
	}
	body, err := x.m.Open(x.ctx, &lw.Request{Path: x.request.URL.Path, Query: x.request.URL.RawQuery, Watch: x.watch})
	if status, ok := errors.AsType[*lw.StatusError](err); ok {
		x.reply(status.Code, "", failure(status.Code, status.Reason, status.Message))
		return
	} else if err != nil {
		return
	}
	defer func() { _ = body.Close() }()
	if x.request.Header.Get("Upgrade") != "" {
		x.upgrade()
		x.frames(body)
		return
	}
	x.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
	buffer := make([]byte, 1<<15)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			x.say(fmt.Sprintf("%x\r\n%s\r\n", n, buffer[:n]))
		}
		if err != nil {
			if err == io.EOF {
				x.say("0\r\n\r\n")
			}
			return
		}
	}
}

// say writes text to the connection and reports whether it succeeded.
func (x *exchange) say(text string) bool {
	_, err := io.WriteString(x.Conn, text)
	return err == nil
}

// sleep waits for d and returns true. It returns false if the client closes the connection first.
func (x *exchange) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-x.ctx.Done():
		return false
	}
}

// drip passes text to send, one byte per second. When the server stops its misbehavior, drip passes the rest at once.
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
	_, at, _ := x.m.since(0)
	return document(x.m.version(at), "", (&call{memory: x.m}).items(at))
}

// news changes a random object and returns the watch event of the change.
func (x *exchange) news() string {
	x.m.step()
	changes, now, _ := x.m.since(0)
	for _, change := range changes {
		if change.revision == now {
			return x.m.event(change)
		}
	}
	return ""
}
