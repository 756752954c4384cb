package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// stream prints the events of one collection.
type stream struct {
	config   *config
	resource lw.Resource
	kind     string // resource name in the output, without the namespace
	order    int    // position of the collection in the command line
	out      *printer
	limiter  *limiter
	tables   *table.Transport         // decodes the server's columns; nil if the output shows no columns
	store    *cache.Store[*lw.Object] // the current objects; nil in a replay
	reporter

	restoring      bool           // whether the current events restore the state of --from or --resume, and are not printed
	noInitialState bool           // whether --from has left the existing objects unknown, so that an event may lack its old object
	listing        bool           // whether a list is in progress; its events are flushed together
	found          bool           // whether an object has existed, or may have existed because of --from
	listed         bool           // whether the first list is complete, or omitted because of --from
	events         []output.Event // result of outputEvents, reused for each event
	badRequests    int            // responses with status 400 or 422; see isFatal
}

func (s *stream) run(ctx context.Context, transport lw.Transport) error {
	client, err := s.client(transport)
	if err != nil {
		return err
	}
	opts := &lw.Options{
		LabelSelector: s.config.resources.labels,
		FieldSelector: s.config.resources.fields,
		// A list with --once must also work for a user who may list but not watch.
		NoStreamingList: s.config.limits.once,
		StopOn:          func(cause error) bool { return !s.answered && s.isFatal(cause) },
	}
	informer := cache.NewInformer(client, opts)
	s.store = informer.Store()
	s.restore(informer)
	for event, changes := range informer.Follow(ctx) {
		if s.restoring {
			if err := s.restoreEvent(event); err != nil {
				return err
			}
			continue
		}
		if last, err := s.handle(event, s.outputEvents(event, changes)); last || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// restore gives an informer the starting point that --from or --resume selects.
func (s *stream) restore(informer *cache.Informer[*lw.Object]) {
	if s.config.limits.from != "" {
		informer.ResumeFrom(s.config.limits.from)
		s.restoring, s.noInitialState = true, true
	}
	if s.out.resume == nil {
		return
	}
	version, objects, found := s.out.resume.restore(s.resumeID())
	if s.config.limits.once || len(s.config.limits.until) > 0 {
		version = "" // start with a list, because --once needs the current state and --until needs complete objects
	}
	if found {
		informer.RestoreObjects(version, objects)
		s.restoring = true
	}
}

// resumeID identifies the collection in a resume file. It includes the selectors, because they change which objects
// are printed.
func (s *stream) resumeID() string {
	return fmt.Sprintf("%s -l %q --field-selector %q", s.resource, s.config.resources.labels, s.config.resources.fields)
}

// restoreEvent handles an event while the state from --from or --resume is restored. It prints nothing.
func (s *stream) restoreEvent(event lw.Event[*lw.Object]) error {
	switch event.Type {
	case lw.Added:
		s.found = true
		// --until must know the object, but must not hold before the server confirms it.
		s.limiter.restore(s.resource.String(), event.Object)
	case lw.Restored:
		s.restoring, s.synced = false, true
		if s.noInitialState { // no list follows, so --until must not wait for a list
			s.markListed()
		}
		if event.ResourceVersion != "" {
			s.logf("continuing from resourceVersion %s", event.ResourceVersion)
		}
		return s.out.print(s, &event, nil, true, true, false) // prints nothing, but adds the event to the recording
	}
	return nil
}

// handle prints the changes that an event has caused. It returns true if this event ends the stream.
func (s *stream) handle(event lw.Event[*lw.Object], changes []output.Event) (last bool, err error) {
	if event.Type != lw.Added { // lists consist of Added events
		s.listing = event.Type == lw.ListStarted
	}
	s.noInitialState = s.noInitialState && event.Type != lw.ListStarted
	s.found = s.found || s.noInitialState || len(changes) > 0
	hidden := s.config.limits.watchOnly && !s.synced
	seen, last := s.limiter.take(s.resource.String(), changes, hidden)
	err = s.out.print(s, &event, seen, len(seen) == len(changes), hidden, !hidden && (!s.listing || last))
	if errors.Is(err, syscall.EPIPE) && s.limiter.reason() == errDone {
		return true, errDone // success, because the condition holds, even if the reader of the output has exited
	} else if err != nil {
		return true, err
	}
	if event.Interruption != nil && event.Interruption.Final {
		return true, &streamError{s.resource, event.Interruption.Err}
	}
	s.report(event, len(changes))
	if event.Type == lw.Synced {
		first := !s.synced // only the first list reports a missing object, because a relist may find the object deleted
		s.synced = true
		if first && s.store != nil {
			err = s.announce()
		}
		if err == nil { // a missing object must not let the others meet the condition
			last = s.markListed() || last
		}
		if s.config.limits.once && !last || err != nil {
			return true, err
		}
	}
	if last {
		return true, s.limiter.reason()
	}
	return false, nil
}

// markListed records that the first list is complete. It returns true if --until is met.
func (s *stream) markListed() (last bool) {
	if !s.listed {
		last = s.limiter.listed()
	}
	s.listed = true
	return last
}

// notFoundError reports that a named object does not exist. It does not end the other streams.
type notFoundError struct{ resource lw.Resource }

func (e *notFoundError) Error() string {
	return fmt.Sprintf("%s %q not found", shortName(e.resource), e.resource.Name)
}

// errFailed reports that a stream failed while other streams continued. The stream's own error has already been
// logged.
var errFailed = errors.New("the stream of a resource failed")

// announce says on a terminal what the first list contained and that lwcat keeps watching, because the user would
// otherwise see no output, or wait for the end. If nothing exists, announce returns an error if the stream names a
// single object, or if "lwcat wait" or "lwcat rollout" finds nothing to wait for. With --wait or --until, an empty list
// is not an error.
func (s *stream) announce() error {
	o, r, count := &s.config.limits, &s.config.resources, s.store.Len()
	required := o.verb != "" && o.until[0] != "delete" && o.until[0] != "create"
	what := shortName(s.resource) + strings.TrimSuffix(" in "+s.resource.Namespace, " in ")
	what += strings.TrimSuffix(" with "+strings.Join(compact([]string{r.labels, r.fields}), ","), " with ")
	switch {
	case count == 0 && (r.wait || !required && len(o.until) > 0):
	case count == 0 && s.resource.Name != "":
		return &notFoundError{s.resource}
	case count == 0 && required:
		return errors.New("no matching resources found")
	// With several collections, one message is enough, except about empty collections.
	case s.status.terminal && !o.hasGoal() && (count == 0 || !o.once && s.order == 0):
		if what = "no " + what; count > 0 {
			what = fmt.Sprintf("%s: %d", what[len("no "):], count)
		}
		if !o.once {
			what += ", watching (^C stops; --once only lists)"
		}
		s.status.logf("%s", what)
	}
	return nil
}
