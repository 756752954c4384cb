package sim

import (
	"strings"
	"time"
)

// maybe is a prediction: yes, no, or either if both are allowed.
type maybe int

const (
	either maybe = iota
	yes
	no
)

// oracle predicts the stream's next step by watching the server, the network and the clocks. It does not look at
// the engine's errors.
type oracle struct {
	*sim
	asked    time.Time     // time at which the request was sent
	opened   time.Time     // time at which the response arrived, or zero
	slept    time.Duration // by how much the wall clock has jumped since then
	listed   time.Duration // duration of the streaming list before the watch, which does not count for the watch's health
	news     bool          // the watch delivered an event or a bookmark with a new resourceVersion
	synced   bool          // the initial-events-end bookmark has arrived
	complete bool          // the page was read completely

	// Only the engine knows how much of a response it has read before the response broke. So these counters are ranges.
	atLeast, atMost int  // minimum and maximum number of consecutive failures that the backoff may count
	askedToWait     int  // minimum number of consecutive responses with Retry-After
	askedAtMost     int  // maximum number of consecutive responses with Retry-After
	faults          int  // minimum number of consecutive 500, 400 and malformed responses
	faultsAtMost    int  // maximum number of consecutive 500, 400 and malformed responses
	short           int  // minimum number of consecutive watches that closed immediately
	shortAtMost     int  // maximum number of consecutive watches that closed immediately
	expired         bool // the engine relisted immediately after a 410, and no watch has been healthy since then
	unversioned     bool // the latest list had no resourceVersion
}

// verdict describes which steps the engine may take after an interruption.
type verdict struct {
	relist maybe // the next request is a list
	atOnce bool  // the engine may send the next request without a delay
	spread maybe // the delay follows a healthy watch that closed cleanly, so it is not a backoff
}

func (o *oracle) begins(q query, now time.Time) {
	o.asked, o.opened, o.slept, o.listed, o.news, o.synced, o.complete = now, time.Time{}, 0, 0, false, false, false
}

// life returns how long the response was open, measured by the monotonic clock and by the wall clock. wall is not
// shorter than monotonic.
func (o *oracle) life(now time.Time) (monotonic, wall time.Duration) {
	if o.opened.IsZero() {
		return 0, 0
	}
	monotonic = now.Sub(o.opened)
	return monotonic, max(monotonic, monotonic+o.slept)
}

// healthy reports whether the watch delivered a new resourceVersion or lasted long enough to be healthy.
func (o *oracle) healthy(now time.Time) maybe {
	shorter, longer := o.life(now)
	switch {
	case o.opened.IsZero():
		return no
	case o.news || shorter-o.listed >= healthyLife:
		return yes
	case longer-o.listed >= healthyLife || o.synced && o.conn.streams:
		return either
	}
	return no
}

// judge returns the steps that the engine may take after the request that has just ended.
func (o *oracle) judge(now time.Time) verdict {
	c := o.conn
	switch {
	case c.isCheck():
		return o.judgeCheck()
	case !c.watch || c.streams && !o.synced:
		return o.judgeList()
	}
	v := o.judgeWatch(now)
	if o.unversioned {
		if v.relist = yes; v.spread == yes {
			v.spread = either // the watch closed cleanly, but the next request is a list
		}
	}
	if c.early {
		v.relist, v.spread, v.atOnce = yes, no, true
	} else if c.regressed { // the engine may have ended the watch because the resourceVersion decreased
		v.relist = either
	}
	return v
}

func (o *oracle) judgeList() verdict {
	r := o.conn.rejection
	ofVersion := r != nil && (r.code == 410 || r.code == 400 || r.tooLarge())
	return verdict{relist: yes, spread: no, atOnce: o.conn.streams || ofVersion && (o.conn.version != "" || o.conn.token != "")}
}

func (o *oracle) judgeCheck() verdict {
	switch c := o.conn; {
	case c.cause == byEngine, c.cause == cleanEnd: // the response contradicts the claimed state
		if claim := o.check.claim; !o.check.loose && !claim.lost(c.of) && len(c.keys) > 0 && !c.recreated(claim) {
			return verdict{relist: no, spread: no} // a healthy collection must not be listed again
		}
		return o.judgeExpired()
	case c.cause == garbled:
		return verdict{spread: no}
	case c.cause == rejected && c.rejection.code != 429 && c.rejection.code < 502 && c.rejection.code != 401 && c.rejection.code != 403:
		return verdict{spread: no}
	}
	return verdict{relist: no, spread: no}
}

// recreated reports whether a list's first object was recreated since the claimed revision.
func (c *conn) recreated(claim claim) bool {
	before, now := claim.of.at(claim.revision)[c.keys[0]], c.of.at(c.revision)[c.keys[0]]
	return before != "" && parsed([]byte(before)).GetUID() != parsed([]byte(now)).GetUID()
}

// judgeWatch returns the steps that the engine may take after a watch, and counts the watch's failures.
func (o *oracle) judgeWatch(now time.Time) (v verdict) {
	healthy := o.healthy(now)
	if healthy != no {
		o.expired = false
		if o.faults = 0; healthy == yes {
			o.shortAtMost = 0
		}
	}
	if o.news {
		o.faultsAtMost = 0
	}
	if o.conn.cause != cleanEnd {
		o.short = 0
	}
	switch o.conn.cause {
	case byEngine:
		return verdict{relist: yes, spread: no}
	case silent, connected:
		if o.conn.cause == silent && o.check.owed > o.check.claim.revision { // the replica has not reached a change that a check has shown
			o.faults = 0
			return verdict{relist: either, spread: either, atOnce: true}
		}
		if o.faults = 0; strings.HasPrefix(o.conn.line, "<") { // a proxy sent an HTML page
			healthy = no
		}
		return verdict{relist: no, spread: healthy}
	case cleanEnd:
		o.faults = 0
		return o.judgeEnd(now, healthy)
	case garbled:
		return o.judgeFault()
	}
	return o.judgeRejection(o.conn.rejection)
}

func (o *oracle) judgeEnd(now time.Time, healthy maybe) verdict {
	if healthy == yes {
		o.short = 0
	} else if o.shortAtMost++; o.conn.sent == 0 {
		o.short++
	}
	v := verdict{relist: no, spread: healthy}
	switch {
	// The server may have been rebuilt, as after a silent watch. The engine counts the time since the last event, which may
	// be shorter, so the relist is not certain.
	case healthy != no && o.check.owed > o.check.claim.revision && now.Sub(o.check.checkedAt) >= owedLimit:
		v = verdict{relist: either, spread: either, atOnce: true}
	case healthy == yes:
	case o.short >= 3:
		v = o.judgeExpired()
	case o.shortAtMost >= 3:
		v.relist, v.atOnce = either, true
	}
	return v
}

func (o *oracle) judgeFault() verdict {
	o.faults++
	o.faultsAtMost++
	v := verdict{relist: no, spread: no}
	switch {
	case o.faults >= 2:
		v.relist = yes
	case o.faultsAtMost >= 2:
		v.relist = either
	}
	return v
}

func (o *oracle) judgeExpired() verdict {
	v := verdict{relist: yes, spread: no, atOnce: !o.expired}
	o.expired = true
	return v
}

func (o *oracle) judgeRejection(r *rejection) verdict {
	switch {
	case r.code == 410:
		return o.judgeExpired()
	case r.code == 404 || r.tooLarge():
		return verdict{relist: yes, spread: no}
	case r.code == 429 || r.code == 401 || r.code == 403 || r.code >= 502 && r.code <= 504:
		o.faults = 0
		return verdict{relist: no, spread: no}
	}
	return o.judgeFault()
}
