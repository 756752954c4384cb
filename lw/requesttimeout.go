package lw

import "time"

// Timeouts that a watch requests. Up to the same again is added at random, so that clients spread out.
const (
	shortTimeout = time.Minute     // of a server that has sent no bookmark: only the end of a watch shows that it is alive
	longTimeout  = 5 * time.Minute // of a server that sends bookmarks
)

// How long a request may bring nothing until its connection is taken for dead. The watchdog looks every 10 s, so a dead
// connection is noticed within 150 s.
const (
	idleRequest   = 90 * time.Second  // a list, or a watch without a response: servers queue requests for up to a minute
	idleStream    = 10 * time.Second  // a streaming list
	idleBookmarks = 140 * time.Second // a watch of a server that sends bookmarks, which it does once a minute
	idleGrace     = 5 * time.Second   // a watch of another server: this much longer than the requested timeout
)

func (m *machine) timeout() time.Duration {
	base := shortTimeout
	if m.server.bookmarks.Load() {
		base = longTimeout
	}
	return base + time.Duration(m.random()*float64(base))
}

// listOptions returns the parameters of the next list request. With another resourceVersion than "" or "0", a limit keeps a
// server from answering from its cache. So it is set there only if the server seems to have no cache. A resourceVersion next
// to a continue token would be rejected.
func (m *machine) listOptions() ListOptions {
	s, ok := m.state.(*listing)
	if !ok {
		return ListOptions{Limit: 1}
	}
	opts := ListOptions{Continue: s.token}
	if s.token == "" {
		opts.ResourceVersion = s.from
	}
	if !s.whole && (m.server.pages.Load() || s.token != "" || s.from == "" || s.from == "0") {
		opts.Limit = m.pageSize
	}
	return opts
}

// watchOptions returns the parameters of the next watch request.
func (m *machine) watchOptions() WatchOptions {
	switch s := m.state.(type) {
	case *watching:
		return WatchOptions{ResourceVersion: m.version, Timeout: s.timeout}
	case *streaming:
		opts := WatchOptions{ResourceVersion: s.from, Timeout: s.timeout, SendInitialEvents: true}
		if s.from == "0" {
			opts.ResourceVersion = "" // a streaming list is cheap enough for the latest resourceVersion
		}
		return opts
	}
	return WatchOptions{}
}

// idle returns how long the request may bring nothing.
func (m *machine) idle() time.Duration {
	switch s := m.state.(type) {
	case *streaming:
		if s.opened != 0 {
			return idleStream
		}
	case *watching:
		switch {
		case s.opened == 0:
		case m.server.bookmarks.Load():
			return idleBookmarks
		default:
			return s.timeout + idleGrace
		}
	}
	return idleRequest
}
