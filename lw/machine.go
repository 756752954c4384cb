package lw

import (
	"errors"
	"io"
	"math/rand/v2"
	"time"
)

// phase is what the machine wants to do next.
type phase uint8

const (
	listing   phase = iota // read a page of a list
	streaming              // watch with sendInitialEvents: a list that goes over into a watch
	watching               // watch from version
	checking               // ask for the collection's version, as a watch was silent for all its life
	stopped                // nothing more
)

// signal is what happened on the wire.
type signal uint8

const (
	pageRead    signal = iota // a page was read to its end
	listFailed                // a page, or the check of the version, was not
	watchOpened               // the response of a watch arrived
	watchSynced               // the list part of a streaming list is complete
	watchMoved                // an event or a bookmark came
	watchEnded                // in good order
	watchFailed               // by an error of any kind
)

// input is a signal with what came with it.
type input struct {
	signal  signal
	now     time.Time
	meta    ListMeta // pageRead
	version string   // watchSynced, watchMoved: the collection's version after the event
	err     error    // listFailed, watchFailed
}

const (
	minTimeout = 5 * time.Minute // of a watch; up to twice this is asked for, so that clients spread out
	shortWatch = 2 * time.Second // a watch that ends sooner, without an event, ended for a reason the server does not tell
	mostShort  = 3               // this many of them in a row mean that the version is too old
	mostFaults = 2               // this many failures in a row that only this version may have caused mean a relist
	longWatch  = 2 * time.Minute // a watch that is silent for so long, without even a bookmark, is suspicious
)

// How long a request may bring nothing.
const (
	silentRequest   = 90 * time.Second  // a list, or a watch whose response has not arrived: servers queue for up to a minute
	silentStream    = 10 * time.Second  // the list part of a streaming list
	stalledStream   = 60 * time.Second  // the same, while events come of which none is surely a part of the list
	silentBookmarks = 150 * time.Second // a watch with bookmarks, of which servers send one a minute
	silentGrace     = 5 * time.Second   // a watch without them: this much beyond the timeout that the server was asked to keep
)

// machine is the life cycle of list and watch: what to ask the server next, given all that happened before. It does no
// I/O, reads no clock and has no goroutine; step is all there is.
type machine struct {
	phase phase

	// The list.
	mayStream   bool              // streaming lists may be asked for,
	verdict     *streamingVerdict // unless the server was found not to offer them
	plain       bool              // the next list is an ordinary one, as a streaming one has failed
	listVersion string            // the version to ask of the next list: "0", then the last one seen, "" when that is too old
	token       string            // of the next page
	whole       bool              // ask for all in one page, as a continue token expired
	pageSize    int               // zero: never page
	alwaysPages bool              // a list of version "0" came in pages: there is no cache that would answer an unpaged one

	// The list part of a streaming list.
	highest string    // the highest version of an object in it
	listed  time.Time // when something came last that is surely a part of the list

	// The watch.
	version   string    // the collection's version that the stream has reached
	liveSince time.Time // when the watch opened; zero: none is open
	moved     bool      // an event or a bookmark has come on this watch: it is alive
	news      bool      // something came that was not known before

	// What went wrong since something last went right.
	short   int // watches that ended at once
	faults  int // failures that this version may have caused
	expired int // verdicts of "too old"
	backoff backoff

	stopOn func(error) bool
	random func() float64 // in [0, 1)
}

// newMachine returns a machine that begins. verdict is nil for a source without streaming lists.
func newMachine(opts *Options, verdict *streamingVerdict) *machine {
	m := &machine{mayStream: !opts.NoStreamingList && opts.ShardSelector == "", verdict: verdict, listVersion: "0", pageSize: defaultPageSize, stopOn: opts.StopOn, random: opts.Random}
	if m.random == nil {
		m.random = rand.Float64
	}
	if opts.PageSize != 0 {
		m.pageSize = max(opts.PageSize, 0)
	}
	m.relist()
	if opts.ResumeFrom != "" && opts.ResumeFrom != "0" {
		m.phase, m.version, m.listVersion = watching, opts.ResumeFrom, opts.ResumeFrom
	}
	return m
}

// step takes what happened and decides what comes next. It returns nil when the stream goes on undisturbed.
func (m *machine) step(in input) *Break {
	switch in.signal {
	case pageRead:
		return m.readPage(in.meta, in.now)
	case watchOpened:
		m.liveSince, m.moved, m.news = in.now, false, false
		m.listed, m.highest = in.now, ""
	case watchSynced:
		m.phase, m.moved, m.news = watching, true, true
		m.version, m.listVersion = in.version, in.version
		m.verdict.succeeded()
	case watchMoved:
		return m.move(in.version, in.now)
	case listFailed:
		return m.broke(in.err, m.afterList(in.err), in.now)
	case watchEnded:
		return m.closed(in.now)
	case watchFailed:
		return m.broke(in.err, m.afterWatch(in.err), in.now)
	}
	return nil
}

// relist makes a list the next thing to do, of the kind that the server is known or hoped to offer.
func (m *machine) relist() {
	m.token = ""
	if m.phase = listing; m.mayStream && !m.plain && m.verdict.offered() {
		m.phase = streaming
	}
}

func (m *machine) readPage(meta ListMeta, now time.Time) *Break {
	if m.phase == checking {
		m.phase = watching
		if versionRegressed(m.version, meta.ResourceVersion) {
			return m.regressed(now)
		}
		return nil
	}
	if m.token = meta.Continue; m.token != "" {
		m.alwaysPages = m.alwaysPages || m.listVersion == "0"
		return nil
	}
	if m.listVersion != "" && versionRegressed(m.version, meta.ResourceVersion) {
		return m.regressed(now)
	}
	m.version, m.listVersion = meta.ResourceVersion, meta.ResourceVersion
	m.whole, m.plain = false, false
	m.phase = watching
	return nil
}

func (m *machine) move(version string, now time.Time) *Break {
	if m.phase == streaming {
		return m.moveList(version, now)
	}
	if versionRegressed(m.version, version) {
		return m.regressed(now)
	}
	if m.moved = true; version == m.version { // a bookmark that says so
		return nil
	}
	m.news = true
	m.short, m.faults = 0, 0
	if now.Sub(m.liveSince) >= shortWatch { // else it may be what comes before the same verdict each time
		m.expired = 0
	}
	if version != "" { // an aggregated API may leave it out; then the last known one stays good for a resume
		m.version, m.listVersion = version, version
	}
	return nil
}

// moveList notes an event of a streaming list's list part. Objects of a list come in the order of their keys, and what
// happens meanwhile in the order of versions; so one that is older than another before it is surely a part of the list. A
// server that does not know streaming lists goes over into an ordinary watch without a word, and on a busy collection it
// never falls silent: that is what the lack of such objects tells.
func (m *machine) moveList(version string, now time.Time) *Break {
	m.moved = true
	if versionRegressed(m.highest, version) {
		m.listed = now
	} else if version != "" {
		m.highest = version
	}
	if now.Sub(m.listed) < stalledStream {
		return nil
	}
	return m.broke(ErrNoInitialEnd, m.afterStream(ErrNoInitialEnd), now)
}

// regressed handles versions that run backwards, as after a restored backup: only the latest list tells what is true now.
func (m *machine) regressed(now time.Time) *Break {
	m.listVersion = ""
	return m.broke(ErrVersionRegressed, next{relist: true}, now)
}

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
	case expired || errors.Is(err, ErrTooLarge):
		return m.latest()
	}
	return next{relist: true}
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

// checkIfSilent asks for the collection's version before the next watch, if this one brought nothing at all: a server
// accepts a watch from a version of the future and says nothing.
func (m *machine) checkIfSilent() {
	if !m.moved {
		m.phase = checking
	}
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
	lived := now.Sub(m.liveSince)
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

// healthy ends the watch, and forgets former failures if it lived long enough.
func (m *machine) healthy(now time.Time) {
	if !m.liveSince.IsZero() && now.Sub(m.liveSince) >= healthyAfter {
		m.backoff = backoff{}
	}
	m.liveSince = time.Time{}
}

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
