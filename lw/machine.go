package lw

import (
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
	objects int      // pageRead: how many it had
	version string   // watchSynced, watchMoved: the collection's version after the event
	err     error    // listFailed, watchFailed
}

const (
	shortWatch = 2 * time.Second // a watch that ends sooner, without an event, ended for a reason the server does not tell
	mostShort  = 3               // this many of them in a row mean that the version is too old
	mostEmpty  = 1000            // this many pages in a row without an object lead nowhere; some servers filter after they have cut the page
	mostFaults = 2               // this many failures in a row that only this version may have caused mean a relist
	longWatch  = 2 * time.Minute // a watch that is silent for so long, without even a bookmark, is suspicious
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
	empty       int               // pages in a row that had no object
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
		return m.readPage(in)
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
	m.token, m.empty = "", 0
	if m.phase = listing; m.mayStream && !m.plain && m.verdict.offered() {
		m.phase = streaming
	}
}

func (m *machine) readPage(in input) *Break {
	meta, now := in.meta, in.now
	if m.phase == checking {
		m.phase = watching
		if versionRegressed(m.version, meta.ResourceVersion) {
			return m.regressed(now)
		}
		return nil
	}
	if meta.Continue != "" {
		return m.turnPage(in)
	}
	if m.listVersion != "" && versionRegressed(m.version, meta.ResourceVersion) {
		return m.regressed(now)
	}
	m.version, m.listVersion = meta.ResourceVersion, meta.ResourceVersion
	m.whole, m.plain = false, false
	m.phase = watching
	return nil
}

// turnPage goes on to the next page, unless the pages lead nowhere.
func (m *machine) turnPage(in input) *Break {
	if m.empty++; in.objects > 0 {
		m.empty = 0
	}
	if in.meta.Continue == m.token || m.empty == mostEmpty {
		return m.broke(ErrNoProgress, m.afterList(ErrNoProgress), in.now)
	}
	m.token = in.meta.Continue
	m.alwaysPages = m.alwaysPages || m.listVersion == "0"
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
	if m.lived(now) >= shortWatch { // else it may be what comes before the same verdict each time
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
