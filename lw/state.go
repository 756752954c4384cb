package lw

import "time"

// state is what a stream does now. Each state owns the data that only it needs, so that no other combination can be
// written down. Only machine.step changes a state.
type state interface {
	// after decides what follows a request of this state that ended with err, a fault of kind f.
	after(m *machine, f fault, err error, now moment) next
}

// next is the state that follows the end of a request.
type next struct {
	state  state
	atOnce bool // the fault is explained and another request is its remedy: no backoff
}

// listing reads an ordinary list, page by page.
type listing struct {
	from    string           // the resourceVersion to ask for: "0" for any, "" for the latest
	whole   bool             // ask for all objects in one page
	token   string           // the continue token of the next page
	pages   int              // pages read
	version string           // the first page's resourceVersion
	starts  map[Key]struct{} // the first object of each page, of a list with several
	free    bool             // the page before brought new objects, so the next one costs no budget
}

// streaming reads a streaming list: a watch that begins with all objects.
type streaming struct {
	from    string        // the resourceVersion that the list must have reached; "0" or "" for the latest
	timeout time.Duration // of the watch, as requested
	opened  moment        // when the response arrived; zero: not yet
	listed  moment        // when an event came that is certainly part of the list
	highest string        // the highest resourceVersion of an object so far
	objects bool          // an object arrived
}

// watching follows a watch from machine.version.
type watching struct {
	lastReceived moment        // when an event or a bookmark last arrived, on this watch or an earlier one
	timeout      time.Duration // as requested
	opened       moment        // when the response arrived; zero: not yet
	news         bool          // an event arrived, or a bookmark with a new resourceVersion
	listed       string        // behind a streaming list: the list's resourceVersion
}

// checking asks for the collection's resourceVersion, because nothing was heard for a long time.
type checking struct{}

// stopped makes no more requests.
type stopped struct{}

const (
	healthyAfter = time.Second     // a watch that lives this long is healthy, even without news
	provenAfter  = 2 * time.Minute // a watch that lives this long resets the backoff, however it ends
	longQuiet    = 5 * time.Minute // after this long without an event or bookmark the resourceVersion is checked
	mostSpread   = time.Second     // the longest delay before a healthy watch resumes
)

// healthy reports whether the watch brought news or lived long enough. A healthy watch resumes at once.
func (s *watching) healthy(now moment) bool { return s.news || s.lived(now) >= healthyAfter }

// lived returns how long the response has been open; zero if it never arrived.
func (s *watching) lived(now moment) time.Duration {
	if s.opened == 0 {
		return 0
	}
	return now - s.opened
}

// spread returns the longest delay before this watch resumes: 0.5 % of its life, at most a second. Clients that lose their
// watches together come back apart, and a client that is cut off often is rarely stale. A watch that ended at its own
// timeout ended alone, because timeouts are random.
func (s *watching) spread(now moment) time.Duration {
	const tolerance = 2 * time.Second
	if late := now - s.opened - s.timeout; -tolerance <= late && late <= tolerance {
		return 0
	}
	return min(s.lived(now)/200, mostSpread)
}

func (s *listing) after(m *machine, f fault, err error, _ moment) next {
	again := &listing{from: s.from, whole: s.whole}
	switch {
	case f == expired && s.token != "" && !s.whole: // the continue token
		again.whole = true
		return next{again, true}
	case f == expired, f == badVersion, rejectsVersion(err, s.from):
		again.from = ""
		return next{again, s.from != "" && err != ErrVersionRegressed}
	case err == ErrNoProgress, err == ErrInconsistentPages:
		again.whole = true
	}
	return next{again, false}
}

// rejectsVersion reports whether a list was rejected because of the resourceVersion that it asked for, such as a saved one
// of another server.
func rejectsVersion(err error, from string) bool {
	return statusCode(err) == 400 && from != "" && from != "0"
}

// after falls back to an ordinary list at once if the server cannot complete a streaming one: servers and proxies that do
// not know streaming lists fail in many ways.
func (s *streaming) after(m *machine, f fault, err error, _ moment) next {
	switch {
	case f == expired, f == badVersion:
		return next{m.list(""), s.from != "" && err != ErrVersionRegressed}
	case f == overload, f == permanent:
		return next{m.list(s.from), false}
	case f == protocol, err == ErrSilent, answered(err):
		m.server.streamFailed(err)
		return next{&listing{from: s.from}, true}
	}
	return next{m.list(s.from), false}
}

func (s *watching) after(m *machine, f fault, err error, now moment) next {
	switch {
	case m.version == "":
		return next{m.list(""), false}
	case err == ErrNoInitialEnd: // the end mark came before some objects
		m.server.stopStreams()
		return next{&listing{from: m.version}, true}
	case f == expired:
		first := !m.relisted
		m.relisted = true
		return next{m.list(m.version), first}
	case f == badVersion:
		return next{m.list(""), false}
	case f == permanent && statusCode(err) == 404:
		return next{m.list(m.version), false}
	case f == protocol:
		if m.suspect++; m.suspect >= mostSuspect {
			return next{m.list(m.version), false}
		}
	}
	if err == ErrSilent {
		m.server.bookmarks.Store(false)
	}
	if now-s.lastReceived >= longQuiet {
		return next{checking{}, false}
	}
	return next{&watching{lastReceived: s.lastReceived}, false}
}

// after resumes the watch if the check failed, because the check proved nothing.
func (checking) after(m *machine, f fault, _ error, now moment) next {
	if f == badVersion {
		return next{m.list(""), false}
	}
	return next{&watching{lastReceived: now}, false}
}

func (stopped) after(*machine, fault, error, moment) next { return next{stopped{}, false} }
