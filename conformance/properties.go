package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// property is a promise that every list-watch client should keep.
type property struct {
	Name  string              // name in the table
	Says  string              // description in the table
	check func(r *run) string // returns the first violation, or ""
}

const (
	staleWithin   = 10 * time.Second // how long a client may take to report an outage
	burst         = 100              // maximum number of requests in burstIn
	burstIn       = 10 * time.Second
	sustained     = 2         // maximum number of requests per second during the whole trial, in addition to burst
	memory        = 512 << 20 // maximum peak RSS in bytes
	neverCaughtUp = "the client did not catch up within %v: %s"
)

// The order of properties matters, because the table shows only the first violated property of a trial.
var properties = []property{
	{"exit", "The client does not exit.", func(r *run) string { return r.exited }},
	{"format", "The driver prints one JSON object per line, as described above.", func(r *run) string { return r.invalid }},
	{"trust", "The client sends no request to a server whose certificate is wrong.", func(r *run) string { return r.misused }},
	{"sequence", "An object is added before it is modified or deleted, and is not added twice.", checkSequence},
	{"resurrection", "A deleted object does not return. The trials create no object twice.", checkResurrection},
	{"order", "The resourceVersion of an object does not decrease, except after the client has reported that its copy is stale.", checkOrder},
	{"convergence", "After the server has recovered, the client catches up within the time limit.", checkConvergence},
	{"lost", "The client skips no change: if it shows a change, its copy also contains all earlier ones.", checkLost},
	{"staleness", "A client that reports its state reports an outage within 10 seconds.", checkStaleness},
	{"requests", "The client sends at most 100 requests in any 10 seconds. In total, it sends at most 100 plus 2 per second. Later pages of a list do not count.", checkRequests},
	{"memory", "On Linux, the peak RSS of the client is at most 512 MiB.", checkMemory},
}

func checkSequence(r *run) string {
	held := map[string]bool{}
	for _, l := range r.lines {
		switch l.Type {
		case "ADDED", "MODIFIED", "DELETED":
			if held[l.Key] != (l.Type != "ADDED") {
				return fmt.Sprintf("%s of %q, but the object was known: %v", l.Type, l.Key, held[l.Key])
			}
			held[l.Key] = l.Type != "DELETED"
		}
	}
	return ""
}

// checkResurrection checks that deleted objects do not return. It ignores trials whose server lies, because such a
// server can itself make deleted objects return.
func checkResurrection(r *run) string {
	if r.trial.Lies {
		return ""
	}
	deleted := map[string]line{}
	for _, l := range r.lines {
		switch before, ok := deleted[l.Key]; {
		case l.Type == "DELETED":
			deleted[l.Key] = l
		case ok && l.Key != "" && l.UID == before.UID:
			return fmt.Sprintf("%s of %q at resourceVersion %s after its deletion at %s", l.Type, l.Key, l.ResourceVersion, before.ResourceVersion)
		}
	}
	return ""
}

func checkOrder(r *run) string {
	if r.trial.Lies {
		return ""
	}
	latest := map[string]line{}
	for _, l := range r.lines {
		switch l.Type {
		case "STALE", "INTERRUPTED": // the next list may come from a rebuilt server, whose resourceVersions can be lower
			clear(latest)
		case "ADDED", "MODIFIED":
			before := latest[l.Key]
			if order, ok := lw.CompareResourceVersions(l.ResourceVersion, before.ResourceVersion); ok && order < 0 && l.UID == before.UID {
				return fmt.Sprintf("%s of %q at resourceVersion %s after %s", l.Type, l.Key, l.ResourceVersion, before.ResourceVersion)
			}
			latest[l.Key] = l
		}
	}
	return ""
}

func checkConvergence(r *run) string {
	switch {
	case r.exited != "":
		return "" // the property exit reports it
	case len(r.requests) == 0:
		return "the client sent no request"
	case r.trial.freezes == 0 && r.requests[0].at.After(r.settled):
		return "the trial tested nothing, because the client's first request came after the server had recovered: run fewer trials at once with -parallel"
	}
	if r.caught.IsZero() && !r.follows {
		return fmt.Sprintf(neverCaughtUp, r.trial.deadline, r.differs)
	}
	return ""
}

func checkLost(r *run) string {
	if r.differs != "" && r.exited == "" && (r.follows || !r.caught.IsZero()) {
		return fmt.Sprintf(neverCaughtUp, r.trial.deadline, r.differs)
	}
	return ""
}

// reports returns the lines about the driver's state. lwcat prints WATCH_STARTED and INTERRUPTED instead of LIVE and
// STALE.
func (r *run) reports() (reports []line) {
	for _, l := range r.lines {
		if slices.Contains([]string{"LIVE", "WATCH_STARTED", "STALE", "INTERRUPTED"}, l.Type) {
			reports = append(reports, l)
		}
	}
	return reports
}

// reportsStale reports whether the driver has reported the outage.
func (r *run) reportsStale() (stale bool) {
	r.lock(func() { stale = r.staleBefore(time.Now()) })
	return stale
}

// staleBefore reports whether the driver's last report before `end` said that its copy was stale.
func (r *run) staleBefore(end time.Time) (stale bool) {
	for _, l := range r.reports() {
		if l.at.Before(end) {
			stale = l.Type == "STALE" || l.Type == "INTERRUPTED"
		}
	}
	return stale
}

func checkStaleness(r *run) string {
	if len(r.reports()) > 0 && r.trial.rebuild != nil && r.exited == "" && !r.staleBefore(r.back) {
		return fmt.Sprintf("the server was unreachable for %v, but the client did not report it", r.back.Sub(r.cut))
	}
	return ""
}

func checkMemory(r *run) string {
	if r.peak > memory {
		return fmt.Sprintf("the peak RSS of the client was %d MiB, which is more than %d MiB", r.peak>>20, memory>>20)
	}
	return ""
}

func checkRequests(r *run) string {
	var sent []time.Time
	for _, request := range r.requests {
		if !request.page {
			sent = append(sent, request.at)
		}
	}
	first := 0
	for i, at := range sent {
		for at.Sub(sent[first]) > burstIn {
			first++
		}
		if i-first+1 > burst {
			return fmt.Sprintf("%d requests in %v, which is more than %d in %v", i-first+1, at.Sub(sent[first]), burst, burstIn)
		}
		elapsed := at.Sub(sent[0])
		if limit := burst + int(sustained*elapsed.Seconds()); i+1 > limit {
			return fmt.Sprintf("%d requests in %v, which is more than %d plus %d per second", i+1, elapsed, burst, sustained)
		}
	}
	return ""
}

// violations returns the first violation of each property that the run violates, by the name of the property.
func (r *run) violations() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]string{}
	for _, p := range properties {
		if violation := p.check(r); violation != "" && excused[r.trial.Name][p.Name] == "" {
			found[p.Name] = violation
		}
	}
	return found
}

// judge returns the outcome of the run, with the first of the violated properties.
func (r *run) judge() outcome {
	o, found := outcome{ran: true}, r.violations()
	for _, l := range r.lines {
		o.version = max(o.version, l.Version)
	}
	for _, p := range properties {
		if o.failed == "" && found[p.Name] != "" {
			o.failed, o.violation = p.Name, found[p.Name]
		}
	}
	return o
}
