package lw

import (
	"math/rand/v2"
	"time"
)

// signal is what happened on the wire.
type signal uint8

const (
	asking     signal = iota // a request is about to be made
	opened                   // the response of a watch arrived
	happened                 // an event or a bookmark arrived
	endMarked                // the initial-events-end bookmark arrived
	pageRead                 // a page of a list was read to its end
	endedClean               // a watch ended without an error
	failed                   // the request failed
)

// moment is the time since one second before the stream began, so that zero means never.
type moment = time.Duration

// input is a signal with its data.
type input struct {
	signal  signal
	now     moment
	event   EventType // opened, happened, endMarked: the event's type; after step, as the caller sees it
	version string    // the same for its resourceVersion
	meta    ListMeta  // pageRead
	objects int       // pageRead, failed: how many objects the page brought
	start   Key       // pageRead: its first object
	err     error     // failed
}

// output says what the caller sees of an event.
type output uint8

const (
	hidden   output = iota // not at all
	liveNow                // an event of a live watch, at machine.version
	listItem               // an object of a list that is not complete
	complete               // the list is complete
	over                   // not at all, and the request is over
)

const (
	maxShortWatches = 3                // this many watches in a row that end at once mean that the resourceVersion expired
	mostSuspect     = 2                // this many failures in a row that the resourceVersion may have caused lead to a list
	stalledStream   = 60 * time.Second // a streaming list fails if events arrive for this long, and none is certainly part of it
)

// machine decides what a stream asks of the server, given all that happened before. It does no I/O, reads no clock and
// starts no goroutine. docs/reconnect.md draws its states.
type machine struct {
	streams  bool // the caller allows streaming lists
	pageSize int  // zero: no pages
	stopOn   func(error) bool
	random   func() float64 // in [0, 1)
	server   *support

	state       state
	retryPolicy retryPolicy
	asked       moment // when the request under way was made
	version     string // the resourceVersion that the stream has reached; "": a watch cannot resume
	short       int    // watches in a row that ended at once
	suspect     int    // failures in a row that the resourceVersion may have caused
	relisted    bool   // an expired resourceVersion led to a list at once since the backoff was reset
	routine     bool   // the last interruption needs no attention: a clean close, or a healthy watch that resumes after a connection error
}

func newMachine(opts *Options, server *support, random func() float64) *machine {
	m := &machine{
		streams:  !opts.NoStreamingList && opts.ShardSelector == "",
		pageSize: defaultPageSize,
		stopOn:   opts.StopOn,
		random:   random,
		server:   server,
	}
	if m.random == nil {
		m.random = rand.Float64
	}
	if opts.PageSize != 0 {
		m.pageSize = max(opts.PageSize, 0)
	}
	if m.state = m.list("0"); opts.ResumeFrom != "" && opts.ResumeFrom != "0" {
		m.state, m.version = &watching{}, opts.ResumeFrom
	}
	return m
}

// list returns the state that lists the collection, in the way that the server is known or hoped to support.
func (m *machine) list(from string) state {
	if m.streams && m.server.streamsLists() {
		return &streaming{from: from}
	}
	return &listing{from: from}
}

// step applies a signal. It is the only function that changes the machine. It sets the type and the resourceVersion of an
// event to those that the caller sees. It returns an Interruption when the request is over and the stream was interrupted.
func (m *machine) step(in *input) (output, *Interruption) {
	out, result := m.apply(in)
	switch out {
	case liveNow:
		in.version = m.version
	case listItem:
		in.version = "" // the version of a list counts only when the list is complete
	}
	return out, result
}

func (m *machine) apply(in *input) (output, *Interruption) {
	switch in.signal {
	case asking:
		m.ask(in.now)
	case opened:
		return m.open(in.now), nil
	case happened:
		return m.event(in)
	case endMarked:
		return m.endMark(in)
	case pageRead:
		return m.page(in)
	case endedClean:
		return hidden, m.end(m.causeOfEnd(in.now), in)
	case failed:
		return hidden, m.end(in.err, in)
	}
	return hidden, nil
}

// ask pays for a request, and settles the timeout of a watch.
func (m *machine) ask(now moment) {
	m.asked = now
	switch s := m.state.(type) {
	case *listing:
		if s.free {
			return
		}
	case *streaming:
		s.timeout = m.timeout()
	case *watching:
		if s.timeout = m.timeout(); s.lastReceived == 0 {
			s.lastReceived = now
		}
	}
	m.retryPolicy.budget.spend(now)
}

func (m *machine) open(now moment) output {
	switch s := m.state.(type) {
	case *streaming:
		s.opened, s.listed = now, now
	case *watching:
		s.opened = now
		return liveNow
	}
	return hidden
}

func (m *machine) event(in *input) (output, *Interruption) {
	switch s := m.state.(type) {
	case *streaming:
		return m.initialEvent(s, in)
	case *watching:
		return m.liveEvent(s, in)
	}
	return hidden, nil
}

// initialEvent notes an event before the end of a streaming list. The objects of a list arrive in the order of their keys,
// and later changes in the order of their resourceVersions. So an object older than one before it is certainly part of the
// list. A server that does not know streaming lists starts an ordinary watch instead, which has no such objects.
func (m *machine) initialEvent(s *streaming, in *input) (output, *Interruption) {
	if versionRegressed(s.highest, in.version) {
		s.listed = in.now
	} else if in.version != "" {
		s.highest = in.version
	}
	if in.now-s.listed >= stalledStream {
		return hidden, m.end(ErrNoInitialEnd, in)
	}
	if in.event == Bookmark {
		return hidden, nil
	}
	if !s.objects {
		s.objects = true
		m.retryPolicy.lists.add(m.asked)
	}
	return listItem, nil
}

func (m *machine) liveEvent(s *watching, in *input) (output, *Interruption) {
	if in.version == "0" { // it stands for no resourceVersion in particular, so no watch can resume from it
		in.version = ""
	}
	if !s.news && in.event != Bookmark && s.listed != "" && (in.version == s.listed || versionRegressed(s.listed, in.version)) {
		return hidden, m.end(ErrNoInitialEnd, in) // an object of the list, behind its end mark
	}
	if versionRegressed(m.version, in.version) {
		return hidden, m.end(ErrVersionRegressed, in)
	}
	if s.lastReceived = in.now; in.event == Bookmark {
		m.server.bookmarks.Store(true)
	}
	if in.version == "" && in.event == Bookmark || in.version != "" && in.version == m.version {
		return liveNow, nil
	}
	s.news = true
	m.short, m.suspect = 0, 0
	if in.version != "" && m.version != "" {
		m.version = in.version
	}
	return liveNow, nil
}

// endMark completes a streaming list. Anywhere else the mark is an ordinary bookmark. Some servers send the mark before the
// objects. So an ordinary list confirms an empty streaming list, until the server has proven that it streams lists well.
func (m *machine) endMark(in *input) (output, *Interruption) {
	s, ok := m.state.(*streaming)
	if !ok {
		in.event = Bookmark
		return m.event(in)
	}
	if s.from != "" && versionRegressed(m.version, in.version) {
		return hidden, m.end(ErrVersionRegressed, in)
	}
	if !s.objects && !m.server.streamsProven.Load() {
		m.state = &listing{from: in.version}
		return over, nil
	}
	if !s.objects {
		m.retryPolicy.lists.add(m.asked)
	}
	m.listed(in.version)
	m.state = &watching{lastReceived: in.now, timeout: s.timeout, opened: s.opened, listed: m.version}
	return complete, nil
}

// causeOfEnd returns the cause of a watch's clean end. Watches that end at once, again and again, are how some servers and
// proxies say that the resourceVersion expired.
func (m *machine) causeOfEnd(now moment) error {
	s, ok := m.state.(*watching)
	switch {
	case !ok:
		return ErrNoInitialEnd
	case s.healthy(now):
		m.short = 0
		return ErrWatchClosed
	}
	if m.short++; m.short < maxShortWatches {
		return ErrWatchClosed
	}
	return ErrExpired
}

// end is the only exit of a request that does not simply go on. It decides, in this order: the kind of the fault, the
// health of the watch, the next state, and the delay.
func (m *machine) end(err error, in *input) *Interruption {
	f := faultOf(err)
	resumes, spread := m.judge(f, err, in.now)
	if s, ok := m.state.(*listing); ok && s.pages == 0 && in.objects > 0 && in.signal == failed {
		m.retryPolicy.lists.add(m.asked) // it was answered, though not to its end
	}
	n := m.state.after(m, f, err, in.now)
	m.routine = err == ErrWatchClosed || resumes && !isList(n.state) && err != ErrSilent
	if m.stopOn != nil && m.stopOn(err) {
		m.state = stopped{}
		return &Interruption{Err: err, Final: true}
	}
	m.state = n.state
	b := &Interruption{Err: err, Relist: isList(n.state)}
	asked := retryAfter(err)
	switch {
	case resumes && !b.Relist:
		b.Delay = spread
	case !n.atOnce || asked > 0:
		b.Delay = m.retryPolicy.backoff.next(m.random(), asked)
	}
	b.Delay = max(b.Delay, m.retryPolicy.budget.wait(in.now))
	if b.Relist {
		b.Delay = max(b.Delay, m.retryPolicy.lists.wait(in.now))
	}
	return b
}

// judge decides whether a watch that just ended was healthy and ended well, so that it resumes at once, after a delay of
// spread. It resets what is remembered of earlier failures.
func (m *machine) judge(f fault, err error, now moment) (resumes bool, spread time.Duration) {
	s, ok := m.state.(*watching)
	if !ok {
		return false, 0
	}
	if err != ErrWatchClosed {
		m.short = 0
	}
	healthy := s.healthy(now)
	if healthy && s.listed != "" {
		m.server.streamWorked()
	}
	resumes = healthy && f == connection && !answered(err)
	if resumes || s.lived(now) >= provenAfter {
		m.retryPolicy.backoff, m.relisted = backoff{}, false
	}
	if resumes {
		m.suspect = 0
		spread = time.Duration(m.random() * float64(s.spread(now)))
	}
	return resumes, spread
}

// isList reports whether a state reads a list.
func isList(s state) bool {
	switch s.(type) {
	case *listing, *streaming:
		return true
	}
	return false
}
