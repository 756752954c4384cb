package lw

import (
	"errors"
	"io"
	"time"
)

// next is what an error leads to.
type next struct {
	relist bool
	now    bool // without a delay: the error is explained and its remedy is another request
}

// afterList decides on a list that failed. It always begins again from its first page.
func (m *machine) afterList(err error) next {
	if m.phase == checking {
		m.phase = watching
		return m.afterWatch(err)
	}
	paged := m.token != "" && !m.whole
	switch expired := errors.Is(err, ErrExpired); {
	case expired && paged:
		m.whole = true
		return next{relist: true, now: true}
	case expired || errors.Is(err, ErrTooLarge) || m.ofVersion(err):
		return m.latest()
	case err == ErrNoProgress:
		m.whole = true
	}
	return next{relist: true}
}

// ofVersion reports whether a request may have been found wrong for its version alone, as one that was saved of another server.
func (m *machine) ofVersion(err error) bool {
	e, ok := errors.AsType[*StatusError](err)
	return ok && e.Code == 400 && m.listVersion != "" && m.listVersion != "0"
}

// latest makes the next list one of the latest version; at once, unless that is what has failed.
func (m *machine) latest() next {
	n := next{relist: true, now: m.listVersion != ""}
	m.listVersion = ""
	return n
}

// afterWatch decides on a watch that failed. What the connection may have caused leads to another watch, however often;
// what the version may have caused leads to a list, at the latest when it happens again.
func (m *machine) afterWatch(err error) next {
	if m.phase == streaming {
		return m.afterStream(err)
	}
	switch {
	case errors.Is(err, ErrExpired):
		m.expired++
		return next{relist: true, now: m.expired == 1}
	case errors.Is(err, ErrTooLarge):
		m.listVersion = ""
		return next{relist: true}
	case errors.Is(err, ErrNotFound):
		return next{relist: true}
	case errors.Is(err, ErrSilent):
		m.checkIfSilent()
		return next{}
	case errors.Is(err, ErrTooManyRequests), errors.Is(err, ErrUnauthorized), errors.Is(err, ErrForbidden), !answered(err):
		return next{}
	}
	m.faults++
	return next{relist: m.faults >= mostFaults}
}

// afterStream decides on a streaming list that failed before its end. What may pass is tried again; for anything else
// there is the ordinary list, at once, as servers and proxies that do not know streaming lists fail in many ways.
func (m *machine) afterStream(err error) next {
	switch {
	case errors.Is(err, ErrExpired), errors.Is(err, ErrTooLarge):
		return m.latest()
	case errors.Is(err, ErrTooManyRequests), Refused(err):
		return next{relist: true}
	case errors.Is(err, ErrSilent), errors.Is(err, ErrNoInitialEnd), answered(err):
		m.verdict.failed(err)
		m.plain = true
		return next{relist: true, now: true}
	}
	return next{relist: true} // the connection's fault
}

// answered reports whether the server's answer is the problem, and not the way to it.
func answered(err error) bool {
	if e, ok := errors.AsType[*MalformedError](err); ok {
		return e.Err != io.ErrUnexpectedEOF // a text cut short is the connection's fault
	}
	if _, ok := errors.AsType[*StatusError](err); ok {
		return true
	}
	_, ok := errors.AsType[*FrameTooLargeError](err)
	return ok
}

// closed handles a watch that ended in good order. One that did so at once, without an event, and again and again, is how
// some servers and proxies say that the version is too old.
func (m *machine) closed(now time.Time) *Break {
	lived := m.lived(now)
	switch {
	case m.phase == streaming:
		return m.broke(ErrNoInitialEnd, m.afterStream(ErrNoInitialEnd), now)
	case m.news || lived >= shortWatch:
		if m.short = 0; lived >= longWatch {
			m.checkIfSilent()
		}
		m.healthy(now)
		return &Break{Err: ErrWatchClosed}
	}
	if m.short++; m.short < mostShort {
		return m.broke(ErrWatchClosed, next{}, now)
	}
	m.short = 0
	return m.broke(ErrExpired, m.afterWatch(ErrExpired), now)
}

// checkIfSilent asks for the collection's version before the next watch, if this one brought nothing at all: a server
// accepts a watch from a version of the future and says nothing.
func (m *machine) checkIfSilent() {
	if !m.moved {
		m.phase = checking
	}
}

// regressed handles versions that run backwards, as after a restored backup: only the latest list tells what is true now.
func (m *machine) regressed(now time.Time) *Break {
	m.listVersion = ""
	return m.broke(ErrVersionRegressed, next{relist: true}, now)
}

// broke sets the course after an error and says so.
func (m *machine) broke(err error, n next, now time.Time) *Break {
	m.healthy(now)
	if n.relist {
		m.relist()
	}
	b := &Break{Err: err, Relist: n.relist}
	if m.stopOn != nil && m.stopOn(err) {
		m.phase = stopped
		b.Final, b.Relist = true, false
		return b
	}
	var asked time.Duration
	if e, ok := errors.AsType[*StatusError](err); ok {
		asked = e.RetryAfter
	}
	if !n.now || asked > 0 {
		b.Delay = m.backoff.next(m.random(), asked)
	}
	return b
}

// healthy ends the watch, and forgets former failures if it lived long enough. What is new is so of the next one only if it comes
// then, also from a source that does not say that its watch is open.
func (m *machine) healthy(now time.Time) {
	if m.lived(now) >= healthyAfter {
		m.backoff = backoff{}
	}
	m.liveSince, m.news = time.Time{}, false
}

// lived is how long the watch has been open; zero if it never was.
func (m *machine) lived(now time.Time) time.Duration {
	if m.liveSince.IsZero() {
		return 0
	}
	return now.Sub(m.liveSince)
}
