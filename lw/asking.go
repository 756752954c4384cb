package lw

import "time"

const minTimeout = 5 * time.Minute // of a watch; up to twice this is asked for, so that clients spread out

// How long a request may bring nothing.
const (
	silentRequest   = 90 * time.Second  // a list, or a watch whose response has not arrived: servers queue for up to a minute
	silentStream    = 10 * time.Second  // the list part of a streaming list
	stalledStream   = 60 * time.Second  // the same, while events come of which none is surely a part of the list
	silentBookmarks = 150 * time.Second // a watch with bookmarks, of which servers send one a minute
	silentGrace     = 5 * time.Second   // a watch without them: this much beyond the timeout that the server was asked to keep
)

// list returns the parameters of the next list request. Beside another version than "" and "0" a limit keeps a server
// from answering from its cache, so it is set there only if the server seems to have none. A version beside a continue
// token, which has its own, would be refused.
func (m *machine) list() ListOptions {
	if m.phase == checking {
		return ListOptions{Limit: 1}
	}
	opts := ListOptions{Continue: m.token}
	if m.token == "" {
		opts.ResourceVersion = m.listVersion
	}
	if !m.whole && (m.alwaysPages || m.token != "" || m.listVersion == "" || m.listVersion == "0") {
		opts.Limit = m.pageSize
	}
	return opts
}

// watch returns the parameters of the next watch request.
func (m *machine) watch() WatchOptions {
	opts := WatchOptions{
		ResourceVersion:   m.version,
		Timeout:           minTimeout + time.Duration(m.random()*float64(minTimeout)),
		SendInitialEvents: m.phase == streaming,
	}
	if m.phase == streaming {
		if opts.ResourceVersion = m.listVersion; opts.ResourceVersion == "0" {
			opts.ResourceVersion = "" // a streaming list is cheap enough for the latest version
		}
	}
	return opts
}

// silence is how long the next request, or the one under way, may bring nothing before it is taken for dead. timeout is the
// one that a watch asks for.
func (m *machine) silence(timeout time.Duration, bookmarked bool) time.Duration {
	switch {
	case m.liveSince.IsZero(): // no response yet
		return silentRequest
	case m.phase == streaming:
		return silentStream
	case bookmarked:
		return silentBookmarks
	}
	return timeout + silentGrace
}
