package lw

import "time"

// These constants are the minimum timeouts of watch requests. Each request adds a random time of up to 100 %, so that
// clients do not reconnect at the same time.
const (
	shortTimeout = time.Minute     // for a watch without bookmarks, whose end is the only sign that the connection is alive
	longTimeout  = 5 * time.Minute // for a watch with bookmarks
)

// These constants are idle timeouts. The watchdog checks every 5 seconds, so it detects a half-open connection within
// 150 seconds.
const (
	idleRequest   = 90 * time.Second  // for a list, or a watch without a response (servers queue requests for up to a minute)
	idleStream    = 10 * time.Second  // for a streaming list
	idleBookmarks = 140 * time.Second // for a watch with bookmarks, which arrive once a minute
	idleOwed      = 5 * time.Second   // for a watch that must deliver a change at once, because a check has shown this change
	idleGrace     = 5 * time.Second   // added to the timeout of a watch without bookmarks
)

func (m *machine) timeout() time.Duration {
	base := shortTimeout
	if m.server.bookmarks.Load() {
		base = longTimeout
	}
	return base + time.Duration(m.random()*float64(base))
}

// listOptions returns the parameters of the next list request. With a limit, the server bypasses its watch cache,
// unless the resourceVersion is "" or "0". So for other resourceVersions, listOptions sets a limit only if the server
// seems to have no watch cache. Servers reject a continue token with a resourceVersion.
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

func (m *machine) watchOptions() WatchOptions {
	switch s := m.state.(type) {
	case *watching:
		return WatchOptions{ResourceVersion: m.version, Timeout: s.timeout}
	case *streaming:
		opts := WatchOptions{ResourceVersion: s.from, Timeout: s.timeout, SendInitialEvents: true}
		if s.from == "0" {
			opts.ResourceVersion = "" // a streaming list uses the watch cache even for the latest resourceVersion
		}
		return opts
	}
	return WatchOptions{}
}

func (m *machine) idle() time.Duration {
	switch s := m.state.(type) {
	case *streaming:
		if s.opened != 0 {
			return idleStream
		}
	case *watching:
		switch {
		case s.opened == 0:
		case s.owed != "":
			return idleOwed
		case m.server.bookmarks.Load():
			return idleBookmarks
		default:
			return s.timeout + idleGrace
		}
	}
	return idleRequest
}
