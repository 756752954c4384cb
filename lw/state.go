package lw

import (
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// state is the current activity of a stream. Only machine.step changes it.
type state interface {
	// react returns the transition to make when a request ends with err, which faultOf has classified as f.
	react(m *machine, f fault, err error, now moment) transition
}

// transition describes how a stream continues after a request.
type transition struct {
	state     state
	immediate bool // whether to skip the backoff, because the next request is the remedy for the fault
}

// listing is the state in which the stream reads an ordinary list page by page.
type listing struct {
	from    string           // resourceVersion to request ("0" means any, "" means the latest)
	whole   bool             // whether to request all objects in one page
	token   string           // continue token of the next page
	pages   int              // number of pages read
	version string           // resourceVersion of the first page
	starts  map[Key]struct{} // first object of each page, to detect repeated pages
	charged int              // number of objects that are charged to the limit on lists
	free    bool             // whether the next page is not charged to the budget, because the previous page had objects
}

// streaming is the state in which the stream reads a streaming list, which is a watch that starts with all objects.
type streaming struct {
	from        string        // minimum resourceVersion of the list ("0" or "" means the latest)
	timeout     time.Duration // requested timeout of the watch
	opened      moment        // when the response arrived, or zero before that
	lastInitial moment        // arrival time of the last event known to be an initial object
	highest     string        // highest resourceVersion of an object so far
	objects     int           // number of events with objects
	receiving   bool          // whether the request failed in the middle of an object
}

// watching is the state in which the stream watches from machine.version.
type watching struct {
	lastReceived moment        // when the last event or bookmark arrived, in this watch or an earlier watch
	timeout      time.Duration // requested timeout
	opened       moment        // when the response arrived, or zero before that
	owed         string        // resourceVersion of a change that a check has shown and that no watch has delivered yet, or ""
	news         bool          // whether an event or a bookmark with a new resourceVersion has arrived
	listVersion  string        // resourceVersion of the streaming list that preceded this watch, or "" if there was none
}

// checking is the state in which the stream requests one object and the current resourceVersion of the collection. They
// show whether the server still has the history from which a watch would resume. A server may have been rebuilt while
// the connection was broken, and a watch from a resourceVersion in its future would deliver no events. Therefore the
// stream checks after each broken connection, and after a long time without events.
type checking struct{}

// stopped is the final state, in which the stream sends no more requests.
type stopped struct{}

const (
	healthyAfter = time.Second     // a watch counts as healthy after this time, even without events
	provenAfter  = 2 * time.Minute // a watch resets the backoff after this time
	checkAfter   = 5 * time.Minute // the resourceVersion is checked after this time without an event or a bookmark
	maxSpread    = time.Second     // maximum delay before a healthy watch resumes
)

// healthy reports whether the watch has yielded an event or was open long enough. A healthy watch resumes without
// backoff.
func (s *watching) healthy(now moment) bool { return s.news || s.openFor(now) >= healthyAfter }

// openFor returns how long the response has been open, or zero if it has not arrived.
func (s *watching) openFor(now moment) time.Duration {
	if s.opened == 0 {
		return 0
	}
	return now - s.opened
}

// spread returns the maximum delay before this watch resumes: 0.5 % of the time that it was open, at most one second.
// The delay spreads out clients that lose their watches at the same time. A watch that ended at its own random timeout
// resumes without a delay.
func (s *watching) spread(now moment) time.Duration {
	const tolerance = 2 * time.Second
	if late := now - s.opened - s.timeout; -tolerance <= late && late <= tolerance {
		return 0
	}
	return min(s.openFor(now)/200, maxSpread)
}

func (s *listing) react(m *machine, f fault, err error, _ moment) transition {
	retry := &listing{from: s.from, whole: s.whole}
	switch {
	case f == expired && s.token != "" && !s.whole: // the continue token has expired
		retry.whole = true
		return transition{retry, true}
	case f == expired, f == badVersion, rejectsVersion(err, s.from):
		retry.from = ""
		return transition{retry, s.from != "" && err != invalid.ErrVersionRegressed}
	case err == invalid.ErrNoProgress, err == invalid.ErrInconsistentPages:
		retry.whole = true
	}
	return transition{retry, false}
}

// rejectsVersion reports whether a list failed because of the requested resourceVersion, for example a saved
// resourceVersion of another server.
func rejectsVersion(err error, from string) bool {
	return statusCode(err) == 400 && from != "" && from != "0"
}

// react falls back to an ordinary list if the server did not complete a streaming list. Servers and proxies without
// streaming lists fail in many ways.
func (s *streaming) react(m *machine, f fault, err error, _ moment) transition {
	switch {
	case f == expired, f == badVersion:
		return transition{m.list(""), s.from != "" && err != invalid.ErrVersionRegressed}
	case f == overload, f == permanent:
		return transition{m.list(s.from), false}
	case f == protocol, err == ErrSilent && !s.receiving, answered(err):
		m.server.streamFailed(err)
		return transition{&listing{from: s.from}, true}
	}
	return transition{m.list(s.from), false}
}

func (s *watching) react(m *machine, f fault, err error, now moment) transition {
	switch {
	case m.version == "":
		return transition{m.list(""), false}
	case err == invalid.ErrNoInitialEnd: // the initial-events-end bookmark arrived before some objects
		m.server.stopStreams()
		return transition{&listing{from: m.version}, true}
	case f == expired:
		return transition{m.list(m.version), m.mayRelistAtOnce()}
	case f == badVersion:
		return transition{m.list(""), err == invalid.ErrReplaced && m.mayRelistAtOnce()}
	case f == permanent && statusCode(err) == 404:
		return transition{m.list(m.version), false}
	case f == protocol:
		m.suspect++
		if m.suspect >= maxSuspect {
			return transition{m.list(m.version), false}
		}
	}
	if err == ErrSilent {
		m.server.bookmarks.Store(false)
	}
	if f == connection && err != ErrWatchClosed || now-s.lastReceived >= checkAfter {
		return transition{checking{}, false}
	}
	return transition{&watching{lastReceived: s.lastReceived}, false}
}

// react relists if the check shows that the server has another history. It repeats the check if the server is still down.
// After any other failure it resumes the watch, because a server that rejects the check may still serve watches.
func (checking) react(m *machine, f fault, err error, now moment) transition {
	switch {
	case f == badVersion:
		return transition{m.list(""), m.mayRelistAtOnce()}
	case statusCode(err) == 404: // as after a watch, so that a collection that returns with other objects is listed
		return transition{m.list(m.version), false}
	case f == connection && err != ErrSilent && statusCode(err) != 504:
		return transition{checking{}, false}
	}
	return transition{&watching{lastReceived: now}, false}
}

func (stopped) react(*machine, fault, error, moment) transition { return transition{stopped{}, false} }
