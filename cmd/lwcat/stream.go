package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// stream prints the events of one collection.
type stream struct {
	config   *config
	number   int
	resource lw.Resource
	kind     string // resource name in the output
	out      *printer
	limiter  *limiter
	progress *progress        // nil without --resume
	now      func() time.Time // clock of a replay; nil without --replay
	tables   *table.Transport // decodes the server's columns; nil without -o wide
	reporter

	restoring      bool           // whether the current events restore the state of --from or --resume
	noInitialState bool           // whether the existing objects are unknown, because of --from
	listing        bool           // whether a list is in progress
	listed         bool           // whether the first list is complete, or omitted because of --from
	events         []output.Event // reused for each event
	badRequests    int            // number of responses with status 400 or 422
	objects        int            // number of existing objects
	checks         sync.WaitGroup // requests that run in the background
}

func (s *stream) run(ctx context.Context, transport lw.Transport) error {
	defer s.checks.Wait()
	client, err := s.client(transport)
	if err != nil {
		return err
	}
	opts := &lw.Options{
		LabelSelector: s.config.resources.labels,
		FieldSelector: s.config.resources.fields,
		StopOn:        func(cause error) bool { return recording.Over(cause) || !s.answered && s.isFatal(cause) },
		Replay:        s.now,
	}
	reflector := cache.NewReflector(client, opts)
	if err := s.restore(reflector); err != nil {
		return err
	}
	for event, changes := range reflector.Follow(s.withTrace(ctx)) {
		if s.restoring {
			s.restoreEvent(event)
			continue
		}
		s.count(changes)
		if event.Type == lw.Synced && !s.synced {
			s.checkNamespace(ctx, transport)
		}
		if last, err := s.handle(event, changes); last || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// restore loads the state of --from or --resume into a reflector.
func (s *stream) restore(reflector *cache.Reflector[*lw.Object]) error {
	switch {
	case s.config.limits.from != "":
		reflector.ResumeFrom(s.config.limits.from)
		s.restoring, s.noInitialState = true, true
	case s.progress != nil:
		version, objects, ok, err := s.progress.restore()
		if !ok {
			return err
		}
		if s.config.limits.once || len(s.config.limits.until) > 0 {
			version = "" // start with a list, because --once needs the current state and --until needs complete objects
		}
		reflector.RestoreObjects(version, objects)
		s.restoring = true
	}
	return nil
}

func (s *stream) restoreEvent(event lw.Event[*lw.Object]) {
	switch event.Type {
	case lw.Added:
		s.objects++
		s.limiter.restore()
	case lw.Restored:
		s.restoring, s.synced = false, true
		if s.noInitialState { // no list follows, so --until must not wait for a list
			s.markListed()
		}
		if event.ResourceVersion != "" {
			s.logf("continuing from resourceVersion %s", event.ResourceVersion)
		}
	}
}

// handle prints the changes of an event. It returns true after the last event.
func (s *stream) handle(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) (last bool, err error) {
	s.meter.decoded(event.Type)
	if event.Type != lw.Added {
		s.listing = event.Type == lw.ListStarted
	}
	s.noInitialState = s.noInitialState && event.Type != lw.ListStarted
	events := s.outputEvents(event, changes)
	print := !s.config.limits.watchOnly || s.synced
	seen, last := s.limiter.take(s.number, events, print)
	written, all := !print || !s.listing || last, len(seen) == len(events)
	if print {
		if err = s.print(seen, written); errors.Is(err, syscall.EPIPE) && s.limiter.reason() == errDone {
			return true, errDone // the condition holds, although the reader of the output has exited
		} else if err != nil {
			return true, err
		}
	}
	s.progress.record(seen, s.printedVersion(event, all), written)
	if event.Interruption != nil && event.Interruption.Final {
		return true, &streamError{s.resource, event.Interruption.Err}
	}
	s.report(event, len(events))
	if event.Type == lw.Synced {
		s.synced = true
		last = s.markListed() || last
		if s.config.limits.once && !last {
			return true, s.missing()
		}
	}
	if last {
		return true, s.limiter.reason()
	}
	return false, nil
}

// print prints events and counts them.
func (s *stream) print(events []output.Event, flush bool) error {
	if err := s.out.print(events, flush); err != nil {
		return err
	}
	s.meter.printed(len(events), s.synced)
	return nil
}

// printedVersion returns the event's resourceVersion if all events up to it have been printed, or "".
func (s *stream) printedVersion(event lw.Event[*lw.Object], whole bool) string {
	switch event.Type {
	case lw.Added, lw.Modified, lw.Deleted, lw.Bookmark, lw.Synced:
		if whole && !s.listing {
			return event.ResourceVersion
		}
	}
	return ""
}

// markListed records that the first list is complete. It returns true if the run can end.
func (s *stream) markListed() (last bool) {
	if !s.listed {
		last = s.limiter.listed()
	}
	s.listed = true
	return last
}

// time returns the current time, or the recorded time during a replay.
func (s *stream) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// notFoundError reports a named object that does not exist. It does not end the other streams.
type notFoundError struct{ resource lw.Resource }

func (e *notFoundError) Error() string {
	text := fmt.Sprintf("%s %q not found", shortName(e.resource), e.resource.Name)
	if e.resource.Namespace != "" {
		text += fmt.Sprintf(" in namespace %q", e.resource.Namespace)
	}
	return text
}

// errFailed reports that a stream failed while other streams continued. The error of the stream has already been
// logged.
var errFailed = errors.New("the stream of a resource failed")

// count updates the number of existing objects.
func (s *stream) count(changes []cache.Change[*lw.Object]) {
	for _, d := range changes {
		switch d.Type {
		case lw.Added:
			s.objects++
		case lw.Deleted:
			s.objects--
		}
	}
}

// missing returns a *notFoundError if the stream names an object that does not exist, and otherwise nil.
func (s *stream) missing() error {
	if s.resource.Name == "" || s.objects > 0 || s.config.limits.hasGoal() {
		return nil
	}
	return &notFoundError{s.resource}
}

// checkNamespace warns in the background if the namespace of an empty collection does not exist. It ignores errors,
// because a user may lack permission to read namespaces.
func (s *stream) checkNamespace(ctx context.Context, transport lw.Transport) {
	name := s.resource.Namespace
	if name == "" || name == "default" || s.objects > 0 || s.now != nil {
		return
	}
	s.checks.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		body, err := transport.Open(ctx, &lw.Request{Path: "/api/v1/namespaces/" + name})
		if err == nil {
			_ = body.Close()
		}
		status, ok := errors.AsType[*lw.StatusError](err)
		switch {
		case !ok || status.Code != http.StatusNotFound || status.Name != name: // this response does not prove that the namespace is missing
		case s.config.limits.once:
			s.status.logOnce("namespace %q does not exist", name)
		default:
			s.status.logOnce("namespace %q does not exist: waiting for it", name)
		}
	})
}
