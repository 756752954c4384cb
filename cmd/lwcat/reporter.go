package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// logOptions select messages on standard error.
type logOptions struct {
	stats   bool
	verbose bool
}

func (o *logOptions) flags(set *pflag.FlagSet) {
	set.BoolVar(&o.stats, "stats", false, "show rates during the run if standard error is a terminal, and print all metrics as a line of JSON at the end")
	set.BoolVarP(&o.verbose, "verbose", "v", false, "log every request")
}

// reporter writes messages about one stream to standard error.
type reporter struct {
	name    string
	status  *status
	meter   *meter
	verbose bool

	answered     bool // whether the server has answered a request
	synced       bool // whether this run or the run that it resumes has completed a list
	disconnected bool // whether no watch has started since the last interruption
	relisting    bool // whether the current list is a relist
	changes      int  // number of changes in the current list
}

// withTrace returns a context whose trace feeds the statistics and the verbose log.
func (r *reporter) withTrace(ctx context.Context) context.Context {
	trace := &lw.Trace{Redirected: r.status.logRedirect}
	r.meter.addTo(trace)
	if r.verbose {
		r.status.traceRequests(trace)
	}
	return lw.WithTrace(ctx, trace)
}

// traceRequests logs every request. The log contains no headers and therefore no credentials.
func (s *status) traceRequests(trace *lw.Trace) {
	var began time.Time
	trace.Open = func(req *lw.Request) {
		began = time.Now()
		s.logf("> GET %s (Accept: %s)", uri(req), req.Accept)
	}
	trace.Opened = func(req *lw.Request, err error) {
		took := time.Since(began).Round(100 * time.Microsecond)
		if err != nil {
			s.logf("< %s after %v: %v", uri(req), took, err)
		} else {
			s.logf("< %s: response after %v", uri(req), took)
		}
	}
}

func uri(req *lw.Request) string {
	if req.Query == "" {
		return req.Path
	}
	return req.Path + "?" + req.Query
}

// report logs interruptions, lists and watches, and counts the changes in the current list.
func (r *reporter) report(event lw.Event[*lw.Object], changes int) {
	r.changes += changes
	switch event.Type {
	case lw.Interrupted:
		r.reportInterruption(event.Interruption, event.ResourceVersion)
	case lw.ListStarted:
		r.relisting = r.synced && (r.answered || r.disconnected) // the first list after --resume is not a relist
		r.answered, r.changes = true, 0
	case lw.Synced:
		if r.verbose && !r.relisting {
			r.logf("listed at resourceVersion %s: %s", event.ResourceVersion, quantity(int64(r.changes), "object"))
		}
		if r.relisting {
			r.meter.update(func() { r.meter.metrics.Relists++ })
			r.logf("relisted at resourceVersion %s: %s", event.ResourceVersion, quantity(int64(r.changes), "change"))
		}
	case lw.WatchStarted:
		r.answered = true
		if r.disconnected {
			r.logf("watching from resourceVersion %s", event.ResourceVersion)
		}
		r.disconnected = false
	}
}

func (r *reporter) reportInterruption(b *lw.Interruption, version string) {
	r.disconnected = true
	r.meter.update(func() { r.meter.metrics.Interruptions++ })
	next := "resuming from resourceVersion " + version
	switch {
	case b.Relist && r.synced:
		next = "relisting"
	case b.Relist:
		next = "retrying"
	}
	if delay := b.Delay.Round(100 * time.Millisecond); delay > 0 {
		next += " in " + delay.String()
	}
	r.logf("%v; %s", b.Err, next)
}

func (r *reporter) logf(format string, args ...any) { r.status.logf(r.name+": "+format, args...) }

// logStats shows rates on a terminal until ctx is done. The returned function waits for that and writes the totals.
func (s *status) logStats(ctx context.Context, stats *stats) (logTotals func()) {
	var rates sync.WaitGroup
	rates.Go(func() { s.showRates(ctx, stats) })
	return func() {
		rates.Wait()
		fmt.Fprintln(s.out, stats.snapshot().json())
	}
}

// showRates updates the status line once a second until ctx ends.
func (s *status) showRates(ctx context.Context, stats *stats) {
	defer s.setLine("")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for before := stats.snapshot(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := stats.snapshot()
		s.setLine(now.rates(before))
		before = now
	}
}
