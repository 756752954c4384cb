package lw

import (
	"math/rand/v2"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// signal is the type of an input to the machine, for example a failed request.
type signal uint8

const (
	asking     signal = iota // a request is about to start
	opened                   // the response of a watch arrived
	happened                 // an event or a bookmark arrived
	endMarked                // the initial-events-end bookmark arrived
	pageRead                 // a page of a list is complete
	endedClean               // a watch was closed cleanly
	failed                   // the request failed
)

// moment is a time on the stream's clock, which starts at one second. Zero means never.
type moment = time.Duration

// input is a signal with its data. Fields that the signal does not use are zero.
type input struct {
	signal  signal
	now     moment
	event   EventType // type of the event (step changes it to the type that the caller receives)
	version string    // resourceVersion of the event (step changes it to the value that the caller receives)
	meta    ListMeta  // pageRead, failed: metadata of the list
	objects int       // pageRead, failed: number of objects on the page
	start   Key       // pageRead: key of the first object
	first   string    // pageRead: resourceVersion of the first object of a check
	refuted bool      // pageRead: the objects contradict the state of the caller
	err     error     // failed: cause of the failure

	receiving time.Duration // happened, failed: how long the current object has been arriving (zero if it arrived at once)
}

// output determines the event that the caller receives.
type output uint8

const (
	hidden      output = iota // the caller receives no event
	liveNow                   // an event of a watch, with the resourceVersion in machine.version
	listItem                  // an object of an incomplete list
	complete                  // the end of a list
	requestOver               // no event, and the request ends
)

const (
	maxShortWatches = 3                // number of consecutive short watches that indicate an expired resourceVersion
	maxSuspect      = 2                // number of consecutive failures that cause a relist, if a bad resourceVersion may explain them
	stalledStream   = 60 * time.Second // maximum time between initial objects of a streaming list (later changes do not count)
)

// machine chooses the requests of a stream. It does no I/O, reads no clock and starts no goroutine. docs/reconnect.md
// shows its states.
type machine struct {
	streams  bool // whether Options and ListerWatcher permit streaming lists
	pageSize int  // objects per page, or zero for no pagination
	stopOn   func(error) bool
	random   func() float64 // returns a number in [0, 1)
	server   *support

	state       state
	retryPolicy retryPolicy
	asked       moment // when the current request started
	version     string // current resourceVersion of the stream, or "" if a watch cannot resume
	short       int    // number of consecutive short watches
	suspect     int    // number of consecutive failures that the resourceVersion may have caused
	relisted    bool   // whether a lost history has caused an immediate relist since the backoff was reset
	routine     bool   // whether the last interruption was a clean close, or a lost connection of a healthy watch (neither is logged)
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
	m.retryPolicy.lists.large = defaultPageSize
	if m.pageSize > 0 {
		m.retryPolicy.lists.large = min(m.pageSize, defaultPageSize)
	}
	m.state = m.list("0")
	if opts.ResumeFrom != "" && opts.ResumeFrom != "0" {
		m.state, m.version = &watching{}, opts.ResumeFrom
		if opts.Verify != nil { // the server may have been rebuilt since the state was saved
			m.state = checking{}
		}
	}
	return m
}

// list returns the next state for a list: streaming if the server may support streaming lists, and otherwise listing.
func (m *machine) list(from string) state {
	if m.streams && m.server.streamsLists() {
		return &streaming{from: from}
	}
	return &listing{from: from}
}

// step applies an input. It is the only function that changes the machine. It sets the type and the resourceVersion of
// an event to the values that the caller receives. It returns an Interruption if the stream was interrupted.
func (m *machine) step(in *input) (output, *Interruption) {
	out, result := m.apply(in)
	switch out {
	case liveNow:
		in.version = m.version
	case listItem:
		in.version = "" // the resourceVersion of the list applies only after its last object
	}
	return out, result
}

func (m *machine) apply(in *input) (output, *Interruption) {
	if in.meta.confirmed { // the client has sent an additional request
		m.retryPolicy.budget.spend(in.now)
	}
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
		return hidden, m.end(m.causeOfFailure(in.err), in)
	}
	return hidden, nil
}

// ask charges a request to the budget. If the request is a watch, ask also chooses its timeout.
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
		s.timeout = m.timeout()
		if s.lastReceived == 0 {
			s.lastReceived = now
		}
	}
	m.retryPolicy.budget.spend(now)
}

func (m *machine) open(now moment) output {
	switch s := m.state.(type) {
	case *streaming:
		s.opened, s.lastInitial = now, now
	case *watching:
		s.opened = now
		if s.owed == "" { // otherwise the watch may follow the history of another server
			return liveNow
		}
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

// initialEvent handles an event before the end of a streaming list. Initial objects arrive sorted by key, and later
// changes by resourceVersion. So an object that is older than an earlier object must be an initial object. A server
// without streaming lists starts an ordinary watch, which never sends such an object.
func (m *machine) initialEvent(s *streaming, in *input) (output, *Interruption) {
	if versionRegressed(s.highest, in.version) {
		s.lastInitial = in.now
	} else if in.version != "" {
		s.highest = in.version
	}
	s.lastInitial += in.receiving // a slow link must not look like a server without streaming lists
	if in.now-s.lastInitial >= stalledStream {
		return hidden, m.end(invalid.ErrNoInitialEnd, in)
	}
	if in.event == Bookmark {
		return hidden, nil
	}
	s.objects++
	return listItem, nil
}

func (m *machine) liveEvent(s *watching, in *input) (output, *Interruption) {
	if in.version == "0" { // "0" means any resourceVersion, so a watch cannot resume from it
		in.version = ""
	}
	if !s.news && in.event != Bookmark && s.listVersion != "" && (in.version == s.listVersion || versionRegressed(s.listVersion, in.version)) {
		return hidden, m.end(invalid.ErrNoInitialEnd, in) // an initial object arrived after the initial-events-end bookmark
	}
	if versionRegressed(m.version, in.version) {
		return hidden, m.end(invalid.ErrVersionRegressed, in)
	}
	s.lastReceived = in.now
	if s.owed != "" && in.version != "" && !versionRegressed(s.owed, in.version) {
		s.owed = ""
	}
	if in.event == Bookmark {
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

// endMark completes a streaming list. In an ordinary watch, the initial-events-end bookmark is an ordinary bookmark.
// Some servers send the bookmark before the objects. If a streaming list is empty, endMark therefore requests an
// ordinary list, unless streaming lists have worked before.
func (m *machine) endMark(in *input) (output, *Interruption) {
	s, ok := m.state.(*streaming)
	if !ok {
		in.event = Bookmark
		return m.event(in)
	}
	if s.from != "" && versionRegressed(m.version, in.version) {
		return hidden, m.end(invalid.ErrVersionRegressed, in)
	}
	if s.objects == 0 && !m.server.streamsProven.Load() {
		m.state = &listing{from: in.version}
		return requestOver, nil
	}
	m.chargeList(new(int), s.objects)
	m.completeList(in.version)
	m.state = &watching{lastReceived: in.now, timeout: s.timeout, opened: s.opened, listVersion: m.version}
	return complete, nil
}
