package sim

import (
	"math"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maybe is yes, no, or what no one but the engine can know.
type maybe int

const (
	either maybe = iota
	yes
	no
)

func decided(b bool) maybe {
	if b {
		return yes
	}
	return no
}

const (
	firstStep   = 800 * time.Millisecond
	longestStep = 30 * time.Second
	healthyLife = time.Second     // a watch that lived so long is healthy
	resetLife   = 2 * time.Minute // a watch that lived so long resets the backoff
)

// oracle knows how the stream must go on, from what the server, the network and the clocks did. It does not look at the
// engine's errors.
type oracle struct {
	*sim
	asked    time.Time
	opened   time.Time // when the response arrived; zero: it did not
	slept    time.Duration
	news     bool // the watch brought an event, or a bookmark of a new resourceVersion
	synced   bool // the streaming list became a watch
	complete bool // the page was read to its end

	atLeast, atMost int  // failures in a row, as far as the backoff counts them
	faults          int  // 500, 400 and garbage in a row
	faultsAtMost    int  // the same, whatever came in between
	short           int  // instant clean ends in a row
	shortAtMost     int  // the same, whatever came in between
	expired         bool // a relist after a 410 went at once, and no watch was healthy since
	nameless        bool // the last list had no resourceVersion
}

// delays counts delays of a seed, to see that they differ.
type delays struct {
	backoffs, bare int // delays of the backoff, and those without jitter
	spreads, still int // delays after healthy watches, and those of zero
}

// verdict is what may follow an interruption.
type verdict struct {
	relist maybe
	atOnce bool // the remedy needs no delay
	spread maybe
}

func (o *oracle) begins(q query, now time.Time) {
	o.asked, o.opened, o.slept, o.news, o.synced, o.complete = now, time.Time{}, 0, false, false, false
}

// life returns how long the response was open, by both clocks.
func (o *oracle) life(now time.Time) (monotonic, wall time.Duration) {
	if o.opened.IsZero() {
		return 0, 0
	}
	monotonic = now.Sub(o.opened)
	return monotonic, max(monotonic, monotonic+o.slept)
}

// healthy tells whether the watch was healthy.
func (o *oracle) healthy(now time.Time) maybe {
	shorter, longer := o.life(now)
	switch {
	case o.opened.IsZero():
		return no
	case o.news || shorter >= healthyLife:
		return yes
	case longer >= healthyLife || o.synced && o.conn.streams:
		return either
	}
	return no
}

// judge decides what may follow the request that has just ended.
func (o *oracle) judge(now time.Time) verdict {
	c := o.conn
	switch {
	case c.isCheck():
		return o.judgeCheck()
	case !c.watch || c.streams && !o.synced:
		return o.judgeList()
	}
	v := o.judgeWatch(now)
	if o.nameless {
		if v.relist = yes; v.spread == yes {
			v.spread = either // it ended well, and a list follows
		}
	}
	if c.early {
		v.relist, v.spread, v.atOnce = yes, no, true
	} else if c.regressed { // a resourceVersion that went back may have come first
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
	case c.cause == byEngine, c.cause == cleanEnd: // it tells that the counter went back
		return verdict{relist: yes, spread: no}
	case c.cause == garbled:
		return verdict{spread: no}
	case c.cause == rejected && c.rejection.code != 429 && c.rejection.code < 502 && c.rejection.code != 401 && c.rejection.code != 403:
		return verdict{spread: no}
	}
	return verdict{relist: no, spread: no}
}

// judgeWatch decides on a watch, and counts its failures.
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
		o.faults = 0
		return verdict{relist: no, spread: healthy}
	case cleanEnd:
		o.faults = 0
		return o.judgeEnd(healthy)
	case garbled:
		return o.judgeFault()
	}
	return o.judgeRejection(o.conn.rejection)
}

func (o *oracle) judgeEnd(healthy maybe) verdict {
	if healthy == yes {
		o.short = 0
		return verdict{relist: no, spread: healthy}
	}
	if o.shortAtMost++; o.conn.sent == 0 {
		o.short++
	}
	v := verdict{relist: no, spread: healthy}
	switch {
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

// broke holds a Break against the verdict. allowed is how long the request budget may make the next request wait.
func (o *oracle) broke(b *lw.Break, now time.Time, allowed time.Duration) {
	v := o.judge(now)
	life, longer := o.life(now)
	if o.conn.watch && longer >= resetLife || v.spread != no {
		o.atLeast = 0
	}
	if o.conn.watch && life >= resetLife || v.spread == yes {
		o.atMost = 0
	}
	switch {
	case v.relist == yes && !b.Relist:
		o.fail("relists", "a watch follows, and a list must: %v", o.conn.cause)
	case v.relist == no && b.Relist:
		o.fail("resumes", "a list follows, and a watch must: %v", o.conn.cause)
	}
	if b.Relist {
		if o.short, o.faults = 0, 0; o.shortAtMost >= 3 && o.conn.watch && o.conn.cause == cleanEnd {
			o.shortAtMost = 0
		}
	}
	wait := o.retryAfter()
	if b.Delay < wait {
		o.fail("honors Retry-After", "the delay is %v, and the server asked for %v", b.Delay, wait)
	}
	switch {
	case v.spread == yes:
		o.spread(b, life, longer, allowed)
	case v.spread == no:
		o.backOff(b, v, wait, allowed)
	default:
		o.atMost++
	}
}

// spread checks the delay after a healthy watch.
func (o *oracle) spread(b *lw.Break, life, longer, allowed time.Duration) {
	most := min(time.Second, longer/100)
	if life >= o.conn.timeout {
		most = 0
	}
	if b.Delay > most+allowed {
		o.fail("resumes soon", "the delay is %v after a watch of %v, and %v is the longest", b.Delay, life, most+allowed)
	}
	if most >= time.Millisecond && allowed == 0 {
		if o.check.delays.spreads++; b.Delay == 0 {
			o.check.delays.still++
		}
	}
}

// backOff checks the delay of exponential backoff.
func (o *oracle) backOff(b *lw.Break, v verdict, wait, allowed time.Duration) {
	o.atMost++
	if !v.atOnce {
		o.atLeast++
	}
	if least := step(o.atLeast); b.Delay < least && !v.atOnce {
		o.fail("backs off", "the delay is %v after %d failures, and %v is the shortest", b.Delay, o.atLeast, least)
	}
	if b.Relist {
		allowed = max(allowed, o.check.budget.listWait(time.Now()))
	}
	if most := step(o.atMost); b.Delay > max(most, wait)+most+allowed {
		o.fail("backs off", "the delay is %v after %d failures, and %v is the longest", b.Delay, o.atMost, max(most, wait)+most+allowed)
	}
	if allowed == 0 && wait == 0 && !v.atOnce {
		o.check.delays.backoffs++
		for n := range 7 {
			if b.Delay == step(n+1) {
				o.check.delays.bare++
			}
		}
	}
}

// retryAfter is how long the next request must wait because the server asked for it.
func (o *oracle) retryAfter() time.Duration {
	if o.conn.cause != rejected || o.conn.rejection.final() {
		return 0
	}
	return min(o.conn.rejection.wait, longestAsked)
}

// jitters checks, at the end, that delays are not all the same.
func (c *checker) jitters() {
	d := c.delays
	if d.backoffs >= 5 && d.bare == d.backoffs {
		c.fail("has jitter", "%d delays, none with jitter", d.bare)
	}
	if d.spreads >= 5 && d.still == d.spreads {
		c.fail("has jitter", "%d healthy watches ended, and none was followed by a delay", d.still)
	}
}

// step is the shortest delay after n failures in a row.
func step(n int) time.Duration {
	return min(longestStep, time.Duration(float64(firstStep)*math.Pow(2, float64(min(n, 20)-1))))
}
