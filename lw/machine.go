package lw

import "time"

// machine decides which request a stream sends next, and when. It has three entry points: next starts the next request,
// event interprets a part of the response, and fail handles the end of the request. It does no I/O, reads no clock and
// starts no goroutine, so tests can reach every state. docs/reconnect.md shows the states, and policy.go contains the
// delays, budgets and timeouts.
type machine struct {
	opts   *Options
	server *support
	policy policy

	state   state
	version string // resourceVersion that the stream has reached, or "" if no watch can resume from it

	// The request in progress.
	started moment        // when it started
	opened  moment        // when its response arrived, or zero before that
	synced  moment        // when its streaming list was complete, or zero before that and in other requests
	timeout time.Duration // requested timeout of a watch
	heard   moment        // when a watch last delivered something; in a streaming list, see initialEvent

	// The list in progress, ordinary or streaming.
	from    string           // resourceVersion to request ("0" means any, "" means the latest)
	whole   bool             // whether to request all objects in one page, because pagination has failed
	token   string           // continue token of the next page, or "" for the first page
	starts  map[Key]struct{} // first object of each page, to detect repeated pages
	objects int              // number of objects so far, for the list limit
	// listVersion is the resourceVersion of the first page, or the newest one in a streaming list. During a watch that began
	// with a streaming list, it is the list's resourceVersion. During other watches, it is "".
	listVersion string

	// The watch in progress.
	owed string // resourceVersion of a change that the watch has not delivered yet, or ""; see checked
	news bool   // whether an event or a bookmark with a new resourceVersion has arrived

	// Failures in a row.
	short    int  // number of watches in a row that closed cleanly at once
	suspect  int  // number of failures in a row that a bad resourceVersion may have caused
	relisted bool // whether the stream has used its immediate relist since the backoff was reset; see mayRelistAtOnce
}

// state is the current activity of a stream.
type state uint8

const (
	// listing means that the stream reads an ordinary list page by page.
	listing state = iota
	// streaming means that the stream reads a streaming list, which is a watch that starts with all objects.
	streaming
	// watching means that the stream watches from machine.version.
	watching
	// checking means that the stream requests one object and the current resourceVersion of the collection. The response
	// shows whether the server was rebuilt while the connection was broken. Without a check, the stream might not notice
	// this, because a watch delivers no events until a new server reaches the stream's resourceVersion. So the stream
	// checks after each broken connection, and after a long time without events.
	checking
	// stopped means that the stream has ended.
	stopped
)

// lists reports whether the state requests the whole collection.
func (s state) lists() bool { return s == listing || s == streaming }

// moment is a time on the stream's clock. The clock starts at one second, so that zero can mean never.
type moment = time.Duration

const (
	maxShortWatches = 3                // after this many short watches in a row, the resourceVersion counts as expired
	maxSuspect      = 2                // after this many failures in a row that a bad resourceVersion may cause, the stream relists
	stalledStream   = 60 * time.Second // maximum time between initial objects of a streaming list (later changes do not count)
	healthyAfter    = time.Second      // a watch counts as healthy after this time, even without events
	provenAfter     = 2 * time.Minute  // a watch resets the backoff after this time, whatever fault ends it
	checkAfter      = 5 * time.Minute  // the resourceVersion is checked after this time without an event or a bookmark
)

// newMachine returns the machine of a new stream. resumeFrom is the resourceVersion of the state that the caller
// already has, or "". verify is true if the caller can compare this state with the server.
func newMachine(opts *Options, resumeFrom string, verify bool, server *support) *machine {
	m := &machine{opts: opts, server: server, policy: newPolicy(opts)}
	switch {
	case resumeFrom == "" || resumeFrom == "0":
		m.relist("0")
	case verify: // the server may have been rebuilt since the state was saved
		m.state, m.version = checking, resumeFrom
	default:
		m.state, m.version = watching, resumeFrom
	}
	return m
}

// next starts the next request and returns its parameters.
func (m *machine) next(now moment) (opts ListOptions) {
	m.started, m.opened, m.synced = now, 0, 0
	if m.state != listing || m.token == "" { // a later page is charged only if it brings no new objects; see page
		m.policy.spend(now)
	}
	opts.LabelSelector, opts.FieldSelector = m.opts.LabelSelector, m.opts.FieldSelector
	switch m.state {
	case listing:
		// If the resourceVersion is neither "" nor "0", a limit makes the server bypass its watch cache and read from
		// storage. For such a resourceVersion, the machine therefore sets a limit only if the server seems to have no watch
		// cache.
		if !m.whole && (m.server.pages.Load() || m.token != "" || m.from == "" || m.from == "0") {
			opts.Limit = m.policy.pageSize
		}
		if opts.Continue = m.token; m.token == "" { // servers reject a continue token with a resourceVersion
			opts.ResourceVersion = m.from
		}
	case checking: // an empty resourceVersion requests the latest state
		opts.Limit = 1
	case streaming:
		opts.SendInitialEvents = true
		if m.from != "0" { // instead of "0", request the latest state, because a streaming list uses the watch cache in both cases
			opts.ResourceVersion = m.from
		}
	case watching:
		opts.ResourceVersion = m.version
		if m.heard == 0 { // the stream began with this watch; see newMachine
			m.heard = now
		}
	}
	if m.state == streaming || m.state == watching {
		m.timeout = m.policy.watchTimeout(m.server)
		opts.Timeout = m.timeout
	}
	return opts
}

// response is the input of machine.event: a watch event, or the end of a page of a list.
type response struct {
	event     EventType     // type of a watch event; zero at the end of a page
	version   string        // resourceVersion of the event or of the page
	receiving time.Duration // how long the event took to arrive, or zero if it arrived at once

	// The remaining fields describe one page of a list.
	token   string // continue token of the next page
	objects int    // number of objects
	start   Key    // key of the first object
	first   string // resourceVersion of the first object; used only in a check
	refuted bool   // whether the caller's state contradicts the response to a check; see Held.Verify
}

// meaning is the machine's interpretation of a part of a response. The engine (stream.go) yields events accordingly.
type meaning uint8

const (
	nothing  meaning = iota // nothing for the caller
	listed                  // an object in an incomplete list
	complete                // the list is complete
	live                    // an event of a watch; the stream has reached machine.version
	over                    // the request has served its purpose, although its response has not ended
)

// event interprets a part of a response. If the response breaks the protocol, event returns an error, which the caller
// must pass to fail.
func (m *machine) event(now moment, r *response) (meaning, error) {
	switch {
	case r.event == 0 && m.state == checking:
		return m.checked(now, r)
	case r.event == 0:
		return m.page(now, r)
	case r.event == WatchStarted:
		m.opened = now
		if m.state == streaming {
			m.heard = now
			return nothing, nil
		}
		// The watch must still deliver the change m.owed. The server may have been rebuilt without that change, so the watch
		// is not live before its first event.
		if m.owed != "" {
			return nothing, nil
		}
		return live, nil
	case m.state == streaming && r.event == Synced:
		return m.endMark(now, r)
	case m.state == streaming:
		return m.initialEvent(now, r)
	}
	return m.liveEvent(now, r)
}

// checked handles the response to a check. If the object in the response is newer than the stream's resourceVersion,
// the next watch owes this change and must deliver it soon. If the watch does not, the server's resourceVersions belong
// to another history.
func (m *machine) checked(now moment, r *response) (meaning, error) {
	switch {
	case versionRegressed(m.version, r.version):
		return nothing, errVersionRegressed
	case r.refuted:
		return nothing, errReplaced
	}
	m.startWatch(now)
	m.owed = ""
	if versionRegressed(r.first, m.version) { // the object is newer than the stream's resourceVersion
		m.owed = r.first
	}
	return nothing, nil
}

// page handles a page of a list. A page that repeats objects or is empty is charged to the request budget, because a
// faulty server could send such pages forever. A few empty pages are normal, because some servers filter the objects of a
// page after they have limited its size. So empty pages fail the list only when the budget is used up.
func (m *machine) page(now moment, r *response) (meaning, error) {
	m.count(r.objects) // even if the page then fails the list, because the server has read the objects
	if m.token == "" {
		m.listVersion = r.version
	} else if m.listVersion != r.version {
		return nothing, errInconsistentPages
	}
	repeated := m.repeats(r)
	if m.token != "" && (repeated || r.objects == 0) {
		m.policy.spend(now)
	}
	if repeated || r.objects == 0 && r.token != "" && m.policy.budgetDelay(now) > 0 {
		return nothing, errNoProgress
	}
	if r.token != "" {
		m.token = r.token
		if m.from == "0" { // a watch cache ignores the limit at "0", so the server has none
			m.server.pages.Store(true)
		}
		return nothing, nil
	}
	// A list of the latest state may be older than the stream, for example after a backup was restored.
	if m.from != "" && versionRegressed(m.version, r.version) {
		return nothing, errVersionRegressed
	}
	m.completeList(now, r.version)
	return complete, nil
}

// repeats reports whether a page repeats the previous continue token, or starts with the same object as an earlier page.
func (m *machine) repeats(r *response) bool {
	if r.token != "" && r.token == m.token {
		return true
	}
	if r.objects == 0 || r.token == "" && m.token == "" { // without objects, or the only page
		return false
	}
	if _, seen := m.starts[r.start]; seen {
		return true
	}
	if m.starts == nil {
		m.starts = map[Key]struct{}{}
	}
	m.starts[r.start] = struct{}{}
	return false
}

// initialEvent handles an event before the end of a streaming list. A server without streaming lists answers with an
// ordinary watch, whose events have increasing resourceVersions. Initial objects are sorted by key, so an object that
// is older than an earlier one proves that this is a streaming list. Without such a proof, the list fails after
// stalledStream.
func (m *machine) initialEvent(now moment, r *response) (meaning, error) {
	if versionRegressed(m.listVersion, r.version) {
		m.heard = now
	} else {
		if r.version != "" {
			m.listVersion = r.version
		}
		m.heard += r.receiving // otherwise a slow link would look like a server without streaming lists
	}
	switch {
	case now-m.heard >= stalledStream:
		return nothing, errNoInitialEnd
	case r.event == Bookmark:
		return nothing, nil
	}
	m.count(1)
	return listed, nil
}

// endMark completes a streaming list. Some servers send the initial-events-end bookmark before the objects, so the list
// seems to be empty. If streaming lists have not worked before, endMark therefore confirms an empty list with an
// ordinary list.
func (m *machine) endMark(now moment, r *response) (meaning, error) {
	if m.from != "" && versionRegressed(m.version, r.version) { // as in page
		return nothing, errVersionRegressed
	}
	if m.objects == 0 && !m.server.streamsProven() {
		if m.from != "" { // otherwise, the ordinary list may also be older than the stream
			m.from = r.version
		}
		m.list(listing, m.from)
		return over, nil
	}
	m.completeList(now, r.version)
	m.synced, m.listVersion = now, m.version
	return complete, nil
}

// liveEvent handles an event of an ordinary watch, or of a streaming list after its end. An event whose resourceVersion
// is new proves that the watch works, so earlier failures no longer count.
func (m *machine) liveEvent(now moment, r *response) (meaning, error) {
	version := r.version
	if version == "0" { // "0" means any resourceVersion, so a watch cannot resume from it
		version = ""
	}
	// In an ordinary watch, an initial-events-end bookmark is like any other bookmark.
	bookmark := r.event == Bookmark || r.event == Synced
	// The first change after a streaming list must be newer than the list. Otherwise, it is an initial object that arrived after
	// the initial-events-end bookmark.
	if !m.news && !bookmark && m.listVersion != "" && (version == m.listVersion || versionRegressed(m.listVersion, version)) {
		return nothing, errNoInitialEnd
	}
	if versionRegressed(m.version, version) {
		return nothing, errVersionRegressed
	}
	m.heard = now
	if m.owed != "" && version != "" && !versionRegressed(m.owed, version) {
		m.owed = ""
	}
	if bookmark {
		m.server.bookmarks.Store(true)
	}
	// A bookmark without a resourceVersion, or an event with the known one, proves nothing.
	if version == "" && bookmark || version != "" && version == m.version {
		return live, nil
	}
	m.news, m.short, m.suspect = true, 0, 0
	// A stream without a resourceVersion stays without one, because such a watch may have missed changes.
	if version != "" && m.version != "" {
		m.version = version
	}
	return live, nil
}

// list makes the machine request a list next, at the resourceVersion `from`. s is listing or streaming.
func (m *machine) list(s state, from string) {
	m.state, m.from, m.whole, m.token, m.starts, m.objects, m.listVersion = s, from, false, "", nil, 0, ""
}

// relist makes the machine request a streaming list next if the server may support it, and otherwise an ordinary list.
func (m *machine) relist(from string) {
	if !m.opts.NoStreamingList && m.server.streamsLists() {
		m.list(streaming, from)
	} else {
		m.list(listing, from)
	}
}

// completeList makes the machine watch after a complete list. A list without a resourceVersion leaves m.version empty,
// so the watch cannot resume.
func (m *machine) completeList(now moment, version string) {
	if version == "0" {
		version = ""
	}
	m.version, m.owed, m.short, m.suspect = version, "", 0, 0
	m.startWatch(now)
}

// startWatch makes the machine watch. `heard` is the time of the last response from the server, or of the last check,
// even if the check failed. A change that the previous watch owed is still owed, because only its arrival, another check
// or a list shows that the server has it.
func (m *machine) startWatch(heard moment) {
	m.state, m.heard, m.news, m.listVersion = watching, heard, false, ""
}

// count charges objects of the current list to the list limit.
func (m *machine) count(objects int) {
	m.policy.charge(m.started, m.objects, objects)
	m.objects += objects
}

// fail handles the end of a request. err is the error of the request, an error from the method event, or ErrWatchClosed
// after a clean close. objects is the number of objects on an unfinished page. receiving reports whether the last
// object was incomplete. fail chooses the next state and the delay before the next request. attention reports whether
// the failure needs a warning. A clean close needs no warning. Neither does a healthy watch that loses its connection
// and resumes, unless the error is ErrSilent.
func (m *machine) fail(now moment, err error, objects int, receiving bool) (result *Interruption, attention bool) {
	healthy := m.state == watching && (m.news || m.watchedFor(now) >= healthyAfter)
	err = m.causeOf(now, err, healthy)
	f := faultOf(err)
	resumes := healthy && f == connection && !answered(err) // an error response needs backoff, because the server may be overloaded
	spread := time.Duration(0)
	if m.state == watching {
		if healthy && m.listVersion != "" { // the watch began with a streaming list
			m.server.streamWorked()
		}
		if resumes || m.watchedFor(now) >= provenAfter {
			m.policy.resetBackoff()
			m.relisted = false
		}
		if resumes {
			m.suspect = 0
			spread = m.policy.spread(m.openFor(now), m.timeout)
		}
	} else if m.state == listing {
		// A failed list counts, too, because the server has read the objects that it delivered.
		m.count(objects)
	}
	immediate := false // whether the next request repairs the fault, so it needs no backoff
	switch m.state {
	case listing:
		immediate = m.afterList(f, err)
	case streaming:
		immediate = m.afterStreamingList(f, err, receiving)
	case watching:
		immediate = m.afterWatch(now, f, err)
	case checking:
		immediate = m.afterCheck(now, f, err)
	}
	attention = err != ErrWatchClosed && (!resumes || m.state.lists() || err == ErrSilent)
	if m.opts.StopOn != nil && m.opts.StopOn(err) {
		m.state = stopped
		return &Interruption{Err: err, Final: true}, attention
	}
	result = &Interruption{Err: err, Relist: m.state.lists()}
	asked := retryAfter(err) // applies even to an immediate request
	switch {
	case resumes && !result.Relist:
		result.Delay = spread
	case !immediate || asked > 0:
		result.Delay = m.policy.backOff(asked)
	}
	result.Delay = max(result.Delay, m.policy.budgetDelay(now))
	if result.Relist {
		result.Delay = max(result.Delay, m.policy.listDelay(now))
	}
	return result, attention
}

// openFor returns how long the response has been open, or zero if it has not arrived.
func (m *machine) openFor(now moment) time.Duration {
	if m.opened == 0 {
		return 0
	}
	return now - m.opened
}

// watchedFor is like openFor, but does not count the time that a streaming list took, because a long list does not show
// that the watch after it works.
func (m *machine) watchedFor(now moment) time.Duration { return min(m.openFor(now), now-m.synced) }

// causeOf returns the reason why a request ended. Some servers and proxies do not report an expired resourceVersion,
// but close each watch at once. So after several short watches in a row, causeOf returns ErrExpired. If watches do
// not deliver a change that a check has shown, the server was rebuilt, and its resourceVersions are unrelated to the
// stream's. Such a server may also close its watches before they become idle.
func (m *machine) causeOf(now moment, err error, healthy bool) error {
	switch {
	case m.state == streaming && err == ErrWatchClosed:
		return errNoInitialEnd
	case m.state != watching:
		return err
	case m.owed != "" && m.opened != 0 && (err == ErrSilent || err == ErrWatchClosed && healthy && now-m.heard >= idleOwed):
		return errReplaced
	case err != ErrWatchClosed || healthy:
		m.short = 0
		return err
	}
	if m.short++; m.short < maxShortWatches {
		return err
	}
	return ErrExpired
}

// afterList restarts the list. If the resourceVersion or the pagination may have caused the failure, afterList changes
// it for the next attempt.
func (m *machine) afterList(f fault, err error) (immediate bool) {
	from, whole := m.from, m.whole
	switch {
	case f == expired && m.token != "" && !whole: // the continue token has expired
		whole, immediate = true, true
	case f == expired, f == badVersion, statusCode(err) == 400 && from != "" && from != "0":
		// 400 may mean that the saved resourceVersion came from another server. After a decreased resourceVersion, the list waits
		// for the backoff, because a server that lags behind needs time.
		from, immediate = "", from != "" && err != errVersionRegressed
	case err == errNoProgress, err == errInconsistentPages:
		whole = true
	}
	m.list(listing, from)
	m.whole = whole
	return immediate
}

// afterStreamingList falls back to an ordinary list if the server did not complete a streaming list, because servers
// and proxies without streaming lists fail in many ways. If the server was silent in the middle of an object, the link
// was slow, so the stream requests another streaming list.
func (m *machine) afterStreamingList(f fault, err error, receiving bool) (immediate bool) {
	switch from := m.from; {
	case f == expired, f == badVersion:
		m.relist("")
		return from != "" && err != errVersionRegressed
	case f == overload, f == permanent:
		m.relist(from)
	case f == protocol, err == ErrSilent && !receiving, answered(err):
		m.server.streamFailed(err)
		m.list(listing, from)
		return true
	default:
		m.relist(from)
	}
	return false
}

// afterWatch resumes the watch if possible, because a relist costs the server much more. After a broken connection, the
// stream first checks whether the server is still the same.
//
// After ErrSilent, the server may no longer send bookmarks, so later watches use short timeouts until a bookmark
// arrives.
func (m *machine) afterWatch(now moment, f fault, err error) (immediate bool) {
	if f == protocol {
		m.suspect++
	}
	if err == ErrSilent {
		m.server.bookmarks.Store(false)
	}
	switch {
	case m.version == "":
		m.relist("")
	case err == errNoInitialEnd: // the initial-events-end bookmark arrived before some objects
		m.server.stopStreams()
		m.list(listing, m.version)
		return true
	case f == expired:
		m.relist(m.version)
		return m.mayRelistAtOnce()
	case f == badVersion:
		m.relist("")
		return err == errReplaced && m.mayRelistAtOnce()
	case statusCode(err) == 404, f == protocol && m.suspect >= maxSuspect:
		m.relist(m.version)
	case f == connection && err != ErrWatchClosed, now-m.heard >= checkAfter:
		m.state = checking
	default:
		m.startWatch(m.heard)
	}
	return false
}

// afterCheck relists if the check shows that the server's resourceVersions belong to another history. If the server is
// down, it repeats the check. After any other failure, including a timeout, it resumes the watch, because a server may be
// unable to answer the check but still able to serve watches.
func (m *machine) afterCheck(now moment, f fault, err error) (immediate bool) {
	switch {
	case f == badVersion:
		m.relist("")
		return m.mayRelistAtOnce()
	case statusCode(err) == 404:
		// The collection was deleted and may be created again with other objects, so the stream must list it.
		m.relist(m.version)
	case f == connection && err != ErrSilent && statusCode(err) != 504: // the server is down
	default:
		m.startWatch(now)
	}
	return false
}

// mayRelistAtOnce returns true once after each reset of the backoff. So the first relist after a server has lost its
// history is immediate. If the server keeps losing its history, further relists wait for the backoff, which spares the
// server frequent lists.
func (m *machine) mayRelistAtOnce() bool {
	first := !m.relisted
	m.relisted = true
	return first
}
