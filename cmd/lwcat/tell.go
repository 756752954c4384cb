package main

import (
	"context"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// telling is how much is told on standard error.
type telling struct {
	stats   bool
	verbose bool
}

func (t *telling) flags(set *pflag.FlagSet) {
	set.BoolVar(&t.stats, "stats", false, "show rates while it runs, on a terminal, and all figures at the end, as a line of JSON")
	set.BoolVarP(&t.verbose, "verbose", "v", false, "tell of every request")
}

// teller tells on standard error what happens to one collection's stream.
type teller struct {
	name    string
	status  *status
	meter   *meter
	verbose bool

	answered bool // by the server, at all
	synced   bool // a list was complete, now or in the run before
	broken   bool // since the last Live
	relists  bool // what arrives is not the first list
	changes  int  // that it brought
}

// traced returns a context in which what is beneath the stream is counted and told.
func (t *teller) traced(ctx context.Context) context.Context {
	trace := &lw.Trace{Redirected: t.status.redirected}
	t.meter.count(trace)
	if t.verbose {
		t.status.traceRequests(trace)
	}
	return lw.WithTrace(ctx, trace)
}

// traceRequests tells of requests. What they are made with, as tokens, are headers, which it does not see.
func (s *status) traceRequests(trace *lw.Trace) {
	var began time.Time
	trace.Open = func(req *lw.Request) {
		began = time.Now()
		s.say("> GET %s (Accept: %s)", uri(req), req.Accept)
	}
	trace.Opened = func(req *lw.Request, err error) {
		took := time.Since(began).Round(100 * time.Microsecond)
		if err != nil {
			s.say("< %s after %v: %v", uri(req), took, err)
		} else {
			s.say("< %s: an answer after %v", uri(req), took)
		}
	}
}

func uri(req *lw.Request) string {
	if req.Query == "" {
		return req.Path
	}
	return req.Path + "?" + req.Query
}

// tell says what happens to the connection, and how much an event changed.
func (t *teller) tell(event lw.Event[*lw.Object], changes int) {
	t.changes += changes
	switch event.Type {
	case lw.Interrupted:
		t.interrupted(event.Interruption, event.ResourceVersion)
	case lw.ListStarted:
		t.relists = t.synced && (t.answered || t.broken) // the list that --resume begins with is the first of this run
		t.answered, t.changes = true, 0
		t.meter.lists(true)
	case lw.Synced:
		t.meter.lists(false)
		if t.verbose && !t.relists {
			t.say("listed at version %s: %d objects", event.ResourceVersion, t.changes)
		}
		if t.relists {
			t.meter.update(func() { t.meter.f.Relists++ })
			t.say("listed again at version %s: %d changes while blind", event.ResourceVersion, t.changes)
		}
	case lw.WatchStarted:
		t.answered = true
		if t.broken {
			t.say("watching from version %s", event.ResourceVersion)
		}
		t.broken = false
	}
}

func (t *teller) interrupted(b *lw.Interruption, version string) {
	t.broken = true
	t.meter.lists(false)
	t.meter.update(func() { t.meter.f.Interruptions++ })
	next := "resuming from version " + version
	switch {
	case b.Relist && t.synced:
		next = "listing again"
	case b.Relist:
		next = "trying again"
	}
	if delay := b.Delay.Round(100 * time.Millisecond); delay > 0 {
		next += " in " + delay.String()
	}
	t.say("%v; %s", b.Err, next)
}

func (t *teller) say(format string, args ...any) { t.status.say(t.name+": "+format, args...) }

// live shows on a terminal, until ctx ends, how far lists are, or the rates.
func (s *status) live(ctx context.Context, stats *stats, rates bool) {
	defer s.show("")
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	before := stats.total()
	line := ""
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if rates && n%4 == 0 {
			now := stats.total()
			line, before = now.line(before), now
		}
		if progress := stats.progress(); progress != "" {
			s.show(progress)
		} else {
			s.show(line)
		}
	}
}
