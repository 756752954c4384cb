//go:build !js

package fallback

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { leak.Main(m) }

func upgrades(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

func open(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) { to.ServeHTTP(w, r) }

// buffering returns a proxy that forwards WebSockets but buffers HTTP responses. It delays the body until the response
// ends. If delayHeader is true, it also delays the header.
func buffering(delayHeader bool) proxy {
	return func(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
		if upgrades(r) {
			to.ServeHTTP(w, r)
			return
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "http", "server", ""
		response, err := to.Transport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		if !delayHeader {
			w.WriteHeader(response.StatusCode)
			_ = http.NewResponseController(w).Flush()
		}
		body, err := io.ReadAll(response.Body)
		if delayHeader {
			w.WriteHeader(response.StatusCode)
		}
		if err == nil {
			_, _ = w.Write(body)
		}
	}
}

// refusing returns a proxy that answers WebSocket handshakes with an HTTP status code.
func refusing(code int) proxy {
	return func(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
		if upgrades(r) {
			w.WriteHeader(code)
			return
		}
		to.ServeHTTP(w, r)
	}
}

// stripping is a proxy that removes the headers Upgrade and Connection, as some real proxies do.
func stripping(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
	r.Header.Del("Upgrade")
	r.Header.Del("Connection")
	to.ServeHTTP(w, r)
}

// swallowing is a proxy that never responds to WebSocket handshakes.
func swallowing(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
	if upgrades(r) {
		<-r.Context().Done()
		return
	}
	to.ServeHTTP(w, r)
}

// Two clients share a transport. Both must receive all changes while watches end, the server restarts, and the server
// temporarily rejects requests. The transport must switch at most once.
func TestFollowsServerBehindProxies(t *testing.T) {
	for name, c := range map[string]struct {
		proxy   proxy
		wsFirst bool
		change  string        // cause of the switch, or "" if no switch is expected
		within  time.Duration // maximum time until both clients receive a change
	}{
		"forwarding proxy, HTTP first":            {open, false, "", 0},
		"forwarding proxy, WebSocket first":       {open, true, "", 0},
		"buffered bodies, HTTP first":             {buffering(false), false, "silent", 11 * time.Second},
		"buffered bodies, WebSocket first":        {buffering(false), true, "", 0},
		"buffered responses, HTTP first":          {buffering(true), false, "silent", 4 * time.Second},
		"buffered responses, WebSocket first":     {buffering(true), true, "", 0},
		"status 400, WebSocket first":             {refusing(400), true, "400", 0},
		"status 400, HTTP first":                  {refusing(400), false, "", 0},
		"status 403, WebSocket first":             {refusing(403), true, "403", 0},
		"status 403, HTTP first":                  {refusing(403), false, "", 0},
		"status 501, WebSocket first":             {refusing(501), true, "501", 0},
		"status 501, HTTP first":                  {refusing(501), false, "", 0},
		"removed Upgrade header, WebSocket first": {stripping, true, "unsupported", 0},
		"removed Upgrade header, HTTP first":      {stripping, false, "", 0},
		"unanswered handshake, WebSocket first":   {swallowing, true, "silent", 4 * time.Second},
		"unanswered handshake, HTTP first":        {swallowing, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, c.proxy, c.wsFirst, func(s *fixture) {
				first, second := s.follow(), s.follow()
				time.Sleep(c.within + 10*time.Second) // a retry is delayed by at most 10 seconds
				s.runScenario(first, second)
				if c.change == "" {
					s.requireChanges()
				} else {
					s.requireChanges(c.change)
				}
			})
		})
	}
}

// runScenario ends watches, restarts the server and rejects requests. These failures must not switch the transport.
func (s *fixture) runScenario(stores ...*cache.Store[*lw.Object]) {
	same := func(name string) {
		s.t.Helper()
		s.create(name)
		for _, store := range stores {
			s.requireState(store)
		}
	}
	same("while-live")
	s.server.CloseWatches()
	time.Sleep(10 * time.Second)
	same("after-close")

	s.down.Store(true)
	s.server.DropConnections()
	s.create("unseen")
	time.Sleep(5 * time.Minute)
	s.down.Store(false)
	time.Sleep(2 * time.Minute)
	same("after-restart")

	allow := s.server.Fail(lwtest.Watches, -1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden"}))
	s.server.CloseWatches()
	time.Sleep(5 * time.Minute)
	allow()
	time.Sleep(4 * time.Minute) // longer than the retry delay plus the 90 seconds until a silent handshake fails
	same("after-403")
	time.Sleep(time.Hour)
	same("much-later")
}

func TestUnavailableServerDoesNotSwitch(t *testing.T) {
	for name, away := range map[string]http.HandlerFunc{
		"error response":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"no response":      func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"aborted response": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		for _, wsFirst := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, wsFirst), func(t *testing.T) {
				var back atomic.Bool
				play(t, func(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
					if back.Load() {
						to.ServeHTTP(w, r)
						return
					}
					away(w, r)
				}, wsFirst, func(s *fixture) {
					store := s.follow()
					time.Sleep(time.Hour)
					s.requireChanges()
					back.Store(true)
					time.Sleep(3 * time.Minute)
					s.requireState(store)
					s.requireChanges()
				})
			})
		}
	}
}

// If one transport delivers no data, and the server rejects the other, the client must not switch back and forth. The
// client must still receive the objects, from lists.
func TestDoesNotSwitchRepeatedly(t *testing.T) {
	for _, wsFirst := range []bool{false, true} {
		hopeless := func(w http.ResponseWriter, r *http.Request, to *httputil.ReverseProxy) {
			if upgrades(r) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			buffering(true)(w, r, to)
		}
		play(t, hopeless, wsFirst, func(s *fixture) {
			store := s.follow()
			time.Sleep(time.Hour)
			s.mu.Lock()
			require.LessOrEqual(t, len(s.changes), 1, "%v", s.changes)
			s.mu.Unlock()
			s.requireState(store)
		})
	}
}
