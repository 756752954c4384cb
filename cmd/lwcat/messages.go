package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// status writes messages to standard error. On a terminal, it also shows a status line at the bottom.
type status struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	line     string
	logged   sync.Map // messages that logOnce has written
}

// logf writes a message. It escapes control characters and shortens the message, because servers supply parts of it.
func (s *status) logf(format string, args ...any) {
	text := output.Plain(fmt.Sprintf(format, args...))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	s.withoutLine(func() { fmt.Fprintln(s.out, "lwcat: "+text) })
}

const maxMessage = 4000 // in bytes

// logOnce writes a message unless it has already written the same message.
func (s *status) logOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, seen := s.logged.LoadOrStore(text, true); !seen {
		s.logf("%s", text)
	}
}

// setLine replaces the status line. An empty line removes it.
func (s *status) setLine(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if file, ok := s.out.(*os.File); ok {
		if width := terminalWidth(file); width > 0 && len(line) >= width {
			line = line[:width-1] // the line is ASCII; a wrapped line could not be erased
		}
	}
	if s.terminal && line != s.line {
		s.line = line
		fmt.Fprint(s.out, erase+line)
	}
}

// withoutLine erases the status line while write runs.
func (s *status) withoutLine(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != "" {
		fmt.Fprint(s.out, erase)
	}
	write()
	if s.line != "" {
		fmt.Fprint(s.out, s.line)
	}
}

const erase = "\r\x1b[K"

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
	disconnected bool // whether the watch is broken
	relisting    bool // whether the current list is a relist
	changes      int  // number of changes in the current list
}

// trace returns a trace that logs each redirect to another origin once and, with --verbose, every request. It logs
// no headers and therefore no credentials.
func (s *status) trace(verbose bool) *lw.Trace {
	trace := &lw.Trace{Redirected: func(origin string) {
		s.logOnce("the server redirects to %s; no credentials are sent there", origin)
	}}
	if !verbose {
		return trace
	}
	var starts sync.Map // time when each request began
	trace.Open = func(req *lw.Request) {
		starts.Store(req, time.Now())
		s.logf("> GET %s (Accept: %s)", uri(req), req.Accept)
	}
	trace.Opened = func(req *lw.Request, err error) {
		began, _ := starts.LoadAndDelete(req)
		took := time.Since(began.(time.Time)).Round(100 * time.Microsecond)
		if err != nil {
			s.logf("< %s after %v: %v", uri(req), took, err)
		} else {
			s.logf("< %s: response after %v", uri(req), took)
		}
	}
	return trace
}

func uri(req *lw.Request) string { return strings.TrimSuffix(req.Path+"?"+req.Query, "?") }

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

// logStats shows rates on a terminal if --stats is set. The returned function stops this and writes the totals.
func (c *config) logStats(ctx context.Context, status *status, stats *stats) (logTotals func()) {
	if !c.log.stats {
		return func() {}
	}
	ctx, end := context.WithCancel(ctx)
	var rates sync.WaitGroup
	rates.Go(func() { status.showRates(ctx, stats) })
	return func() {
		end()
		rates.Wait()
		fmt.Fprintln(status.out, string(encode(stats.snapshot())))
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

// metrics are the totals that --stats prints. Times are in seconds.
type metrics struct {
	Seconds        float64 `json:"seconds"`
	Events         int64   `json:"events"`  // number of printed events
	Objects        int64   `json:"objects"` // number of objects received in lists and watches
	Bytes          int64   `json:"bytes"`   // number of bytes received, after decompression
	Relists        int64   `json:"relists"`
	Interruptions  int64   `json:"interruptions"`
	DecodeSeconds  float64 `json:"decodeSeconds"`  // time spent decoding received bytes into changes
	MeanLagSeconds float64 `json:"meanLagSeconds"` // mean time from receiving an event to printing it
	MaxLagSeconds  float64 `json:"maxLagSeconds"`

	ChangesPerMinute map[string]float64 `json:"changesPerMinute"` // keyed by resource; the first list does not count
}

// stats collects the metrics of all streams.
type stats struct {
	mu       sync.Mutex
	started  time.Time
	metrics  metrics
	totalLag time.Duration    // sum of the lags of all printed events
	changes  map[string]int64 // number of printed changes, keyed by resource
}

func newStats() *stats { return &stats{started: time.Now(), changes: map[string]int64{}} }

func (s *stats) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// snapshot returns the current metrics.
func (s *stats) snapshot() metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.metrics
	f.Seconds = time.Since(s.started).Seconds()
	f.ChangesPerMinute = map[string]float64{}
	for resource, changes := range s.changes {
		f.ChangesPerMinute[resource] = 60 * float64(changes) / f.Seconds
	}
	if f.Events > 0 {
		f.MeanLagSeconds = s.totalLag.Seconds() / float64(f.Events)
	}
	return f
}

// rates describes the metrics, and the rates since an earlier snapshot.
func (f metrics) rates(before metrics) string {
	seconds := f.Seconds - before.Seconds
	text := fmt.Sprintf("%s, %.0f/s, %s/s, max lag %.1f ms, %s, %s",
		quantity(f.Events, "event"), float64(f.Events-before.Events)/seconds, formatBytes(float64(f.Bytes-before.Bytes)/seconds),
		1000*f.MaxLagSeconds, quantity(f.Relists, "relist"), quantity(f.Interruptions, "interruption"))
	for _, resource := range slices.Sorted(maps.Keys(f.ChangesPerMinute)) {
		text += fmt.Sprintf(", %s %.1f/min", resource, f.ChangesPerMinute[resource])
	}
	return text
}

// quantity returns n and the singular or plural of noun.
func quantity(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func formatBytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return fmt.Sprintf("%.0f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f GB", n)
}

// meter counts one stream's events and measures how long they take.
type meter struct {
	*stats
	resource      string
	lastRead      time.Time // when the last bytes arrived
	decodeStarted time.Time // when decoding started
}

// addTo registers the meter's callbacks with a trace.
func (m *meter) addTo(trace *lw.Trace) {
	trace.Read = func(n int) {
		m.lastRead = time.Now()
		m.decodeStarted = m.lastRead
		m.update(func() { m.metrics.Bytes += int64(n) })
	}
	trace.Frame = func(t lw.EventType, _ int) {
		if t == lw.Bookmark || t == lw.Synced {
			return
		}
		m.update(func() { m.metrics.Objects++ })
	}
}

// decoded adds to the total decode time after an event. Decoding starts when the event's bytes arrive or when the
// previous event has been printed, whichever is later. Events without bytes, such as interruptions, do not count,
// because the stream was idle before them.
func (m *meter) decoded(t lw.EventType) {
	now := time.Now()
	switch t {
	case lw.Added, lw.Modified, lw.Deleted, lw.Bookmark, lw.Synced:
		m.update(func() { m.metrics.DecodeSeconds += now.Sub(m.decodeStarted).Seconds() })
	}
	m.decodeStarted = now
}

// printed counts printed events. If changes is true, it also counts them as changes.
func (m *meter) printed(events int, changes bool) {
	m.decodeStarted = time.Now()
	lag := m.decodeStarted.Sub(m.lastRead)
	changed := events
	if !changes {
		changed = 0 // adding zero makes snapshots include the resource
	}
	m.update(func() {
		m.metrics.Events += int64(events)
		m.changes[m.resource] += int64(changed)
		m.totalLag += lag * time.Duration(events)
		if events > 0 {
			m.metrics.MaxLagSeconds = max(m.metrics.MaxLagSeconds, lag.Seconds())
		}
	})
}
