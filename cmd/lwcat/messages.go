package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// status writes messages to standard error.
type status struct {
	mu  sync.Mutex // streams write concurrently
	out io.Writer

	terminal bool // whether a person reads the messages
	// answered reports whether a server has answered a list or a watch. At the end of a run with --wait, it is false if a
	// named object has never existed. exitCode needs it.
	answered atomic.Bool
}

// logf writes a message. It escapes control characters and shortens the message, because servers supply parts of it.
func (s *status) logf(format string, args ...any) {
	text := output.Plain(fmt.Sprintf(format, args...))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, "lwcat: "+text)
}

// maxMessage is the maximum length of a message in bytes, so that a server cannot fill the screen.
const maxMessage = 4000

// reporter writes messages about one stream to standard error.
type reporter struct {
	name    string
	status  *status
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
	var logged sync.Map // the origins
	trace := &lw.Trace{Redirected: func(origin string) {
		if _, again := logged.LoadOrStore(origin, true); !again {
			s.logf("the server redirects to %s; no credentials are sent there", origin)
		}
	}}
	if !verbose {
		return trace
	}
	uri := func(req *lw.Request) string { return strings.TrimSuffix(req.Path+"?"+req.Query, "?") }
	trace.Open = func(req *lw.Request) { s.logf("> GET %s (Accept: %s)", uri(req), req.Accept) }
	trace.Opened = func(req *lw.Request, err error) {
		if err != nil {
			s.logf("< %s: %v", uri(req), err)
		} else {
			s.logf("< %s: response", uri(req))
		}
	}
	return trace
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
		r.status.answered.Store(true)
	case lw.Synced:
		if r.verbose && !r.relisting {
			r.logf("listed at resourceVersion %s: %s", event.ResourceVersion, quantity(int64(r.changes), "object"))
		}
		if r.relisting {
			r.logf("relisted at resourceVersion %s: %s", event.ResourceVersion, quantity(int64(r.changes), "change"))
		}
	case lw.WatchStarted:
		r.answered = true
		r.status.answered.Store(true)
		if r.disconnected {
			r.logf("watching from resourceVersion %s", event.ResourceVersion)
		}
		r.disconnected = false
	}
}

func (r *reporter) reportInterruption(b *lw.Interruption, version string) {
	if status, ok := errors.AsType[*lw.StatusError](b.Err); ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) && !r.answered && !r.verbose {
		return // lw repeats the request without a streaming list, so the user sees the error once
	}
	r.disconnected = true
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

// quantity returns n and the singular or plural of noun.
func quantity(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
