package sim

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// reference is a simple engine that follows the specification and shares no code with the real engine. Each flag
// makes it break one rule. TestFindsBrokenRules describes the rules.
type reference struct {
	noBucket, noListBound, slowResume, hotResume, noJitter, noRetryAfter, noDoubling, noWall bool // flags that break rules for delays
	freePages, anyPages, anyKind, unversioned, listOn503, mutePatience, deaf, trusting       bool // flags that break rules for responses

	opts      *lw.Options
	transport lw.Transport
	fold      naiveFold
	streams   int  // number of consecutive failed streaming lists
	proven    bool // a watch that followed a streaming list was healthy
	ctx       context.Context
	yield     func(event) bool
	over      bool // the stream has ended

	// These flags mean, in this order: the next request is a list; the next request is a check; the next list is an
	// ordinary list; the next list has a single page; the current list has sent ListStarted.
	listing, checking, plain, whole, reset bool
	version, listVersion, kind             string      // resourceVersions of the stream and of the next list request; kind of the lists so far
	bookmarks                              bool        // the server has sent a bookmark
	heard                                  time.Time   // time of the latest data
	tokens                                 float64     // remaining request budget
	counted                                time.Time   // when tokens was computed
	lists                                  []time.Time // start times of lists that count toward the limit
	charged, small                         int         // objects of the current list, and of the lists that do not count yet
	failures, asked, faults, short         int         // numbers of consecutive failures, as in the oracle
	expired                                bool        // the engine has relisted without a delay, so the next relist needs one
}

func (r reference) engine(t lw.Transport, opts *lw.Options) Subject {
	r.transport, r.opts = t, opts
	r.fold = naiveFold{sweeps: true, begins: true, held: map[lw.Key]object{}, seen: map[lw.Key]bool{}}
	return Subject{
		Deltas: func(ctx context.Context) iter.Seq2[event, []cache.Change[object]] {
			return func(yield func(event, []cache.Change[object]) bool) {
				r.yield = func(e event) bool { return yield(e, r.fold.fold(e)) }
				r.run(ctx)
			}
		},
		Held:    func() []object { return slices.Collect(maps.Values(r.fold.held)) },
		Version: func() string { return r.fold.version },
	}
}

func (r *reference) run(ctx context.Context) {
	r.ctx, r.over, r.listing, r.checking, r.reset = ctx, false, true, false, false
	r.plain, r.whole, r.version, r.listVersion, r.kind = false, false, "", "0", ""
	r.tokens, r.counted, r.lists, r.heard = burst, time.Now(), nil, time.Now()
	r.failures, r.asked, r.faults, r.short, r.expired, r.small = 0, 0, 0, 0, false, 0
	for ctx.Err() == nil && !r.over {
		var end ending
		switch {
		case r.listing && !r.plain && !r.opts.NoStreamingList && r.streams < 2:
			end = r.watch(true)
		case r.listing:
			end = r.list()
		case !r.checking && time.Since(r.heard) >= 5*time.Minute:
			end = r.check()
		default:
			end = r.watch(false)
		}
		if r.over || ctx.Err() != nil {
			return
		}
		if end.why != endGoesOn {
			r.interrupt(end)
		}
	}
}

func (r *reference) send(e event) bool {
	r.over = r.over || r.ctx.Err() != nil || !r.yield(e)
	return !r.over
}

// begin sends ListStarted before the first object of a list. It reports whether the caller wants more events.
func (r *reference) begin() bool {
	if r.reset {
		return true
	}
	r.reset = true
	return r.send(event{Type: lw.ListStarted})
}

// why classifies the end of a request.
type why int

const (
	endGoesOn why = iota
	endUnreachable
	endOverloaded
	endDenied
	endMissing
	endExpired
	endTooNew
	endFaulty
	endIdle
	endClosed
	endWentBack
	endUseless // the list makes no progress, or the streaming list has no end
)

// ending describes how a request ended. The zero value means that the request has not ended or was successful.
type ending struct {
	why       why
	err       error
	wait      time.Duration // delay that the server requested; -1 after a connection error, which permits a quick resume
	streaming bool          // the request ended before the initial-events-end bookmark
	checked   bool          // the request was a version check
	paged     bool          // the request was for a later page of a list
	behind    bool          // the watch followed a streaming list in the same response
	watch     bool
	news      bool
	lived     time.Duration
	watched   time.Duration // lived without the streaming list before the watch
	timeout   time.Duration
}

// pay takes a token from the request budget.
func (r *reference) pay() {
	r.refill()
	r.tokens--
}

// charge counts a list's objects toward the limit on lists. A list counts as at most one page.
func (r *reference) charge(began time.Time, objects int) {
	large := newBudget(r.opts.PageSize).large
	objects = min(objects, large-r.charged)
	r.charged += objects
	if r.small += objects; r.small >= large {
		r.small -= large
		r.lists = append(r.lists, began)
	}
}

func (r *reference) refill() {
	now := time.Now()
	r.tokens, r.counted = min(burst, r.tokens+now.Sub(r.counted).Seconds()), now
}

// interrupt chooses the next request, reports the interruption and waits for its delay.
func (r *reference) interrupt(end ending) {
	relist, atOnce := r.remedy(end)
	switch {
	case end.behind && !r.trusting && end.why == endWentBack:
		r.streams++
		r.plain, relist, atOnce = true, true, true
	case end.behind && (end.news || end.watched >= time.Second):
		r.streams, r.proven = 0, true
	}
	r.reset = false
	b := &lw.Interruption{Err: end.err, Relist: relist}
	if b.Final = r.opts.StopOn != nil && r.opts.StopOn(end.err); b.Final {
		b.Relist = false
		r.send(event{Type: lw.Interrupted, ResourceVersion: r.version, Interruption: b})
		r.over = true
		return
	}
	b.Delay = r.delay(end, relist, atOnce)
	r.listing = relist
	if !r.send(event{Type: lw.Interrupted, ResourceVersion: r.version, Interruption: b}) || b.Delay == 0 {
		return
	}
	timer := time.NewTimer(b.Delay)
	defer timer.Stop()
	wake := r.opts.Wake
	if r.deaf && end.wait > 0 {
		wake = nil
	}
	select {
	case <-timer.C:
	case <-wake:
	case <-r.ctx.Done():
	}
}

// remedy reports whether the next request is a list, and whether it is sent without a delay.
func (r *reference) remedy(end ending) (relist, atOnce bool) {
	switch {
	case end.why == endWentBack:
		r.listVersion = ""
		if end.checked {
			atOnce, r.expired = !r.expired, true
		}
		return true, atOnce
	case r.checking:
		r.checking = false
		return false, false
	case !end.watch:
		return true, r.listRemedy(end)
	}
	if end.news || end.watched >= time.Second {
		r.expired = false
	}
	if end.why != endClosed || end.watched >= time.Second || end.news {
		r.short = 0
	} else if r.short++; r.short == 3 {
		r.short, end.why = 0, endExpired
	}
	if end.news {
		r.faults = 0
	}
	switch end.why {
	case endExpired:
		atOnce, r.expired = !r.expired, true
		return true, atOnce
	case endMissing:
		return true, false
	case endTooNew:
		r.listVersion = ""
		return true, false
	case endFaulty:
		if r.faults++; r.faults >= 2 {
			r.faults = 0
			return true, false
		}
	case endUnreachable, endOverloaded:
		return r.version == "" && !r.unversioned || r.listOn503 && end.err != nil && end.wait == 0 && r.version != "" && end.lived == 0, false
	}
	return r.version == "" && !r.unversioned, false
}

func (r *reference) listRemedy(end ending) (atOnce bool) {
	switch {
	case end.streaming:
		if r.plain = end.why != endOverloaded && end.why != endDenied && end.why != endMissing && end.why != endUnreachable; r.plain {
			r.streams++
		}
		return r.plain
	case end.why == endExpired && end.paged:
		r.whole = true
		return true
	case end.why == endExpired || end.why == endTooNew:
		atOnce = r.listVersion != ""
		r.listVersion = ""
		return atOnce
	case end.why == endUseless:
		r.whole = true
	}
	return false
}

func (r *reference) delay(end ending, relist, atOnce bool) (d time.Duration) {
	wait := min(end.wait, 5*time.Minute)
	if r.noRetryAfter {
		wait = 0
	}
	if end.watched >= 2*time.Minute {
		r.failures, r.asked = 0, 0
	}
	random := r.opts.Random()
	if r.noJitter {
		random = 0
	}
	healthy := end.watch && (end.news || end.watched >= time.Second)
	good := end.why == endUnreachable && end.wait < 0 || end.why == endIdle || end.why == endClosed
	switch {
	case (healthy && !r.slowResume || r.hotResume && end.watch) && good && !relist:
		if r.failures, r.asked = 0, 0; end.lived < end.timeout || end.lived > end.timeout+2*time.Second {
			d = time.Duration(random * float64(min(time.Second, end.lived/200)))
		}
	case wait > 0 && r.asked < 10:
		r.asked++
		d = wait + time.Duration(random*float64(wait)/10)
	case atOnce:
		d = max(0, wait)
	default:
		if r.failures++; r.noDoubling {
			r.failures = 1
		}
		least := min(30*time.Second, time.Duration(800e6*math.Pow(2, float64(min(r.failures, 20)-1))))
		d = max(least, wait) + time.Duration(random*float64(least))
	}
	if n := len(r.lists); relist && n >= 4 && !r.noListBound {
		d = max(d, time.Until(r.lists[n-4].Add(time.Minute)))
	}
	if r.refill(); r.noBucket {
		return d
	}
	return max(d, time.Duration((1-r.tokens)*float64(time.Second))+1)
}
