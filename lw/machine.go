package lw

import (
	"errors"
	"math/rand/v2"
	"time"
)

// phase is what the machine wants to do next.
type phase uint8

const (
	listing  phase = iota // read a page of a list
	watching              // watch from version
	stopped               // nothing more
)

// signal is what happened on the wire.
type signal uint8

const (
	pageRead    signal = iota // a page was read to its end
	listFailed                // a page was not
	watchOpened               // the response of a watch arrived
	watchMoved                // an event or a bookmark came
	watchEnded                // in good order
	watchFailed               // by an error of any kind
)

// input is a signal with what came with it.
type input struct {
	signal  signal
	now     time.Time
	meta    ListMeta // pageRead
	version string   // watchMoved: the collection's version after the event
	err     error    // listFailed, watchFailed
}

const (
	minTimeout = 5 * time.Minute // of a watch; up to twice this is asked for, so that clients spread out
	shortWatch = 2 * time.Second // a watch that ends sooner, without an event, ended for a reason the server does not tell
	mostShort  = 3               // this many of them in a row mean that the version is too old
	mostFaults = 2               // this many failures in a row that only this version may have caused mean a relist
)

// machine is the life cycle of list and watch: what to ask the server next, given all that happened before. It does no
// I/O, reads no clock and has no goroutine; step is all there is.
type machine struct {
	phase phase

	// The list.
	listVersion string // the version to ask of the next list: "0", then the last one seen, "" when that is too old
	token       string // of the next page
	whole       bool   // ask for all in one page, as a continue token expired
	pageSize    int    // zero: never page

	// The watch.
	version   string    // the collection's version that the stream has reached
	liveSince time.Time // when the watch opened; zero: none is open
	moved     bool      // an event or a bookmark has come on this watch

	// What went wrong since something last went right.
	short   int // watches that ended at once
	faults  int // failures that this version may have caused
	expired int // verdicts of "too old"
	backoff backoff

	stopOn func(error) bool
	random func() float64 // in [0, 1)
}

func newMachine(opts *Options) *machine {
	m := &machine{listVersion: "0", pageSize: defaultPageSize, stopOn: opts.StopOn, random: rand.Float64}
	if opts.PageSize != 0 {
		m.pageSize = max(opts.PageSize, 0)
	}
	return m
}

// step takes what happened and decides what comes next. It returns nil when the stream goes on undisturbed.
func (m *machine) step(in input) *Break {
	switch in.signal {
	case pageRead:
		m.readPage(in.meta)
	case watchOpened:
		m.liveSince, m.moved = in.now, false
	case watchMoved:
		m.move(in.version)
	case listFailed:
		return m.broke(in.err, m.afterList(in.err), in.now)
	case watchEnded:
		return m.closed(in.now)
	case watchFailed:
		return m.broke(in.err, m.afterWatch(in.err), in.now)
	}
	return nil
}

func (m *machine) readPage(meta ListMeta) {
	if m.token = meta.Continue; m.token != "" {
		return
	}
	m.version, m.listVersion = meta.ResourceVersion, meta.ResourceVersion
	m.whole = false
	m.phase = watching
}

func (m *machine) move(version string) {
	m.moved = true
	m.short, m.faults, m.expired = 0, 0, 0
	if version != "" { // an aggregated API may leave it out; then the last known one stays good for a resume
		m.version, m.listVersion = version, version
	}
}

// next is what an error leads to.
type next struct {
	relist bool
	now    bool // without a delay: the error is explained and its remedy is another request
}

// afterList decides on a list that failed. It always begins again from its first page.
func (m *machine) afterList(err error) next {
	token := m.token
	m.token = ""
	switch {
	case errors.Is(err, ErrExpired) && token != "" && !m.whole:
		m.whole = true
		return next{relist: true, now: true}
	case (errors.Is(err, ErrExpired) || errors.Is(err, ErrTooLarge)) && m.listVersion != "":
		m.listVersion = ""
		return next{relist: true, now: true}
	}
	return next{relist: true}
}

// afterWatch decides on a watch that failed. What the connection may have caused leads to another watch, however often;
// what the version may have caused leads to a list, at the latest when it happens again.
func (m *machine) afterWatch(err error) next {
	switch {
	case errors.Is(err, ErrExpired):
		m.expired++
		return next{relist: true, now: m.expired == 1}
	case errors.Is(err, ErrTooLarge):
		m.listVersion = ""
		return next{relist: true}
	case errors.Is(err, ErrNotFound):
		return next{relist: true}
	case errors.Is(err, ErrTooManyRequests), errors.Is(err, ErrUnauthorized), errors.Is(err, ErrForbidden), !answered(err):
		return next{}
	}
	m.faults++
	return next{relist: m.faults >= mostFaults}
}

// answered reports whether the server's answer is the problem, and not the way to it.
func answered(err error) bool {
	if e, ok := errors.AsType[*MalformedError](err); ok {
		return e.Err == nil // a text cut short is the connection's fault
	}
	if _, ok := errors.AsType[*StatusError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*FrameTooLargeError](err); ok {
		return true
	}
	_, ok := errors.AsType[*DecodeError](err)
	return ok
}

// closed handles a watch that ended in good order. One that did so at once, without an event, and again and again, is how
// some servers and proxies say that the version is too old.
func (m *machine) closed(now time.Time) *Break {
	if m.moved || now.Sub(m.liveSince) >= shortWatch {
		m.short = 0
		m.healthy(now)
		return &Break{Err: ErrWatchClosed}
	}
	if m.short++; m.short < mostShort {
		return m.broke(ErrWatchClosed, next{}, now)
	}
	m.short = 0
	return m.broke(ErrExpired, m.afterWatch(ErrExpired), now)
}

// broke sets the course after an error and says so.
func (m *machine) broke(err error, n next, now time.Time) *Break {
	m.healthy(now)
	if n.relist {
		m.phase = listing
	}
	b := &Break{Err: err, Relist: m.phase == listing}
	if m.stopOn != nil && m.stopOn(err) {
		m.phase = stopped
		b.Final, b.Relist = true, false
		return b
	}
	if !n.now {
		b.Delay = m.backoff.next(m.random())
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		b.Delay = max(b.Delay, e.RetryAfter)
	}
	return b
}

// healthy ends the watch, and forgets former failures if it lived long enough.
func (m *machine) healthy(now time.Time) {
	if !m.liveSince.IsZero() && now.Sub(m.liveSince) >= healthyAfter {
		m.backoff = backoff{}
	}
	m.liveSince = time.Time{}
}

// list returns the parameters of the next list request. A server answers from its cache only when no limit is set or the
// version is "" or "0"; and it refuses a version beside a continue token, which has its own.
func (m *machine) list() ListOptions {
	opts := ListOptions{Continue: m.token}
	if m.token == "" {
		opts.ResourceVersion = m.listVersion
	}
	if !m.whole && (m.token != "" || m.listVersion == "" || m.listVersion == "0") {
		opts.Limit = m.pageSize
	}
	return opts
}

// watch returns the parameters of the next watch request.
func (m *machine) watch() WatchOptions {
	timeout := minTimeout + time.Duration(m.random()*float64(minTimeout))
	return WatchOptions{ResourceVersion: m.version, Timeout: timeout}
}
