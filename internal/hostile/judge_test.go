package hostile

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// request records a request that the stream under test has sent.
type request struct {
	at   time.Time
	kind string // "list", "page", "stream", "watch" or "check"
	free bool   // not counted against the request limit, because it fetched a page with a new object
	full bool   // the list delivered an object or completed
	cost int    // number of objects that the list delivered, at most judge.large
}

// judge checks a stream against docs/guarantees.md and docs/reconnect.md.
type judge struct {
	mu       sync.Mutex
	world    *World
	slow     bool // objects take minutes to arrive, so a pause between two events does not show that a watch is idle
	nameless bool // the server's lists have no resourceVersion
	large    int  // maximum number of objects for which one list counts toward the limit on lists
	trust    bool // the server never sends wrong data, so the store must be correct after each event
	store    *cache.Store[*lw.Object]
	requests []*request
	list     *request         // the list in progress, or nil
	seen     map[lw.Key]bool  // objects of the list in progress
	page     time.Time        // when the latest page of the list ended
	last     lw.EventType     // latest event of type Interrupted, ListStarted, Synced or WatchStarted
	broken   *lw.Interruption // latest interruption; nil after the next request
	due      time.Time        // when the next request must be sent
	heard    time.Time        // time of the latest event
	version  string           // latest resourceVersion of the stream

	compared   time.Time // value of heard when difference last compared
	comparedTo int       // revision of the server at the last comparison
	differs    string    // result of the last comparison

	held   map[lw.Key]*lw.Object // objects that all changes so far add up to
	causes []error               // causes of all interruptions
	faults []string              // broken guarantees
	counts map[string]int        // number of faults by message format
	texts  func(string)          // fails the test if the string contains a secret; may be nil
}

// fault records a broken guarantee and the current time. It records at most three faults with the same format, because
// one bug can cause thousands.
func (j *judge) fault(format string, args ...any) {
	if j.counts[format]++; j.counts[format] <= 3 {
		j.faults = append(j.faults, fmt.Sprintf("%s: ", time.Now().Format("15:04:05.000"))+fmt.Sprintf(format, args...))
	}
}

func (j *judge) trace() *lw.Trace {
	return &lw.Trace{
		Open: j.opens,
		Opened: func(_ *lw.Request, err error) {
			if err != nil {
				j.text(err)
			}
		},
		Page:       func(lw.ListMeta) { j.lock(func() { j.page = time.Now() }) },
		Switched:   j.text,
		Redirected: func(origin string) { j.text(errors.New(origin)) },
	}
}

func (j *judge) lock(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f()
}

// text passes the messages of an error and of its wrapped errors to j.texts.
func (j *judge) text(err error) {
	if err == nil || j.texts == nil {
		return
	}
	j.texts(err.Error())
	j.texts(fmt.Sprintf("%+v %#v %q", err, err, err))
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		j.text(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range wrapped.Unwrap() {
			j.text(err)
		}
	}
}

// opens checks a request that the stream sends. It records a fault if the latest events do not permit this request at
// this time.
func (j *judge) opens(req *lw.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q, _ := url.ParseQuery(req.Query)
	now, r := time.Now(), &request{at: time.Now(), kind: kindOf(q)}
	confirms := r.kind == "list" && j.list != nil && j.list.kind == "stream" && !j.list.full
	if v := q.Get("resourceVersion"); r.kind == "watch" && (v == "" || v == "0") && !j.nameless {
		j.fault("a watch starts at the invalid resourceVersion %q", v)
	}
	if r.kind == "list" || r.kind == "stream" {
		j.list, j.seen = r, map[lw.Key]bool{}
	}
	switch {
	case len(j.requests) == 0:
	case j.broken != nil:
		if !now.Equal(j.due) {
			j.fault("a %s request was sent %v after its due time; cause of the interruption: %v", r.kind, now.Sub(j.due), j.broken.Err)
		}
		if lists := r.kind == "list" || r.kind == "stream"; lists != j.broken.Relist {
			j.fault("a %s request was sent although Relist was %v; cause of the interruption: %v", r.kind, j.broken.Relist, j.broken.Err)
		}
		j.broken = nil
	case r.kind == "page" && j.list != nil:
		if !now.Equal(j.page) {
			j.fault("a page was requested %v after the previous page, but no delay was reported", now.Sub(j.page))
		}
	case j.last == lw.Synced && r.kind == "watch":
		if !now.Equal(j.heard) {
			j.fault("the watch request was sent %v after its list, but no delay was reported", now.Sub(j.heard))
		}
	case confirms: // an ordinary list confirms that the streaming list was empty
	case j.last == lw.Interrupted && j.requests[len(j.requests)-1].kind == "check": // after a request that checks the resourceVersion, the watch follows at once
	default:
		j.fault("a %s request was sent after a %v event, but no interruption was reported", r.kind, j.last)
	}
	j.requests = append(j.requests, r)
}

func kindOf(q url.Values) string {
	switch {
	case q.Get("sendInitialEvents") != "":
		return "stream"
	case q.Get("watch") != "":
		return "watch"
	case q.Get("continue") != "":
		return "page"
	case q.Get("limit") == "1":
		return "check"
	}
	return "list"
}

// event checks one of the stream's events and the changes that it causes in the store.
func (j *judge) event(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	if quiet := now.Sub(j.heard); j.last == lw.WatchStarted && quiet > 150*time.Second && !j.slow {
		j.fault("a %v event arrived %v after the previous event, but the engine should have ended the idle watch before that", e.Type, quiet)
	}
	if j.broken != nil && j.broken.Final {
		j.fault("a %v event arrived after the final event", e.Type)
	}
	j.heard = now
	switch e.Type {
	case lw.Interrupted:
		j.breaks(e.Interruption)
		j.last = e.Type
	case lw.ListStarted, lw.Synced, lw.WatchStarted:
		j.last = e.Type
	}
	if r := j.list; r != nil && (e.Type == lw.Added || e.Type == lw.Synced) && j.last != lw.WatchStarted {
		r.full = true
		if last := j.requests[len(j.requests)-1]; e.Type == lw.Added && last.kind == "page" && !j.seen[lw.KeyOf(e.Object)] {
			last.free = true
		}
		if e.Type == lw.Added {
			r.cost = min(r.cost+1, j.large)
			j.seen[lw.KeyOf(e.Object)] = true
		}
	}
	if e.Type == lw.Synced {
		j.list, j.version = nil, e.ResourceVersion
	}
	j.order(e)
	j.fold(changes)
	if j.last == lw.WatchStarted || e.Type == lw.Synced {
		j.compare(e)
	}
}

func (j *judge) breaks(b *lw.Interruption) {
	j.text(b.Err)
	if b.Err == nil || errors.Is(b.Err, context.Canceled) {
		j.fault("an interruption has the invalid cause %v", b.Err)
	}
	if b.Delay < 0 || b.Delay > 5*time.Minute+30*time.Second {
		j.fault("the delay %v is out of range; cause of the interruption: %v", b.Delay, b.Err)
	}
	j.broken, j.due = b, time.Now().Add(b.Delay)
	j.causes = append(j.causes, b.Err)
}
