package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// status is standard error: messages, and on a terminal a line at the bottom that changes in place.
type status struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	line     string
	sentOn   sync.Map // the origins that redirects were told to lead to
}

// say writes a message. What servers say is a part of many, and must neither control the terminal nor look like a message.
func (s *status) say(format string, args ...any) {
	text := output.Plain(fmt.Sprintf(format, args...))
	if len(text) > mostInMessage {
		text = strings.ToValidUTF8(text[:mostInMessage], "") + "…"
	}
	s.around(func() { fmt.Fprintln(s.out, "lwcat: "+text) })
}

const mostInMessage = 4000 // bytes

// redirected tells, once, that the server sends requests on to another origin.
func (s *status) redirected(origin string) {
	if _, told := s.sentOn.LoadOrStore(origin, true); !told {
		s.say("the server sends on to %s, which gets no credentials", origin)
	}
}

// show puts a text in place of the line at the bottom; "" removes it.
func (s *status) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line = s.fit(line); s.terminal && line != s.line {
		s.line = line
		fmt.Fprint(s.out, erase+line)
	}
}

// fit cuts a line off where the terminal ends: one that went on in the next row could not be removed.
func (s *status) fit(line string) string {
	file, ok := s.out.(*os.File)
	if !ok {
		return line
	}
	if width, _, _ := terminalSize(file); width > 0 && len(line) >= width {
		return line[:width-1] // it is ASCII
	}
	return line
}

// around writes something else, which may go to the same terminal: the line at the bottom makes room for it.
func (s *status) around(write func()) {
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

// divert sends messages elsewhere, if they would go to a terminal, and shows no line at its bottom.
func (s *status) divert(to io.Writer) (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.terminal {
		return func() {}
	}
	out := s.out
	s.out, s.terminal = to, false
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.out, s.terminal = out, true
	}
}

const erase = "\r\x1b[K"

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
