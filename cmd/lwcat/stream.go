package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// stream prints one collection.
type stream struct {
	config *config
	name   string // in messages
	kind   string // in what is printed
	out    *printer
	stderr io.Writer
	events []output.Event // of the batch at hand

	synced  bool // a list was complete
	listing bool // one is arriving
	broken  bool // since the last Live
	relist  bool // what comes is another list
	changes int  // that it brought
	wrong   int  // requests that the server found wrong
}

func (s *stream) run(ctx context.Context, transport lw.Transport, resource lw.Resource) error {
	client, err := lw.NewClient(transport, resource, lw.RawCodec{KeepManagedFields: s.config.how.managedFields}, nil)
	if err != nil {
		return err
	}
	reflector := cache.NewReflector(client, &lw.Options{
		LabelSelector: s.config.what.labels,
		FieldSelector: s.config.what.fields,
		StopOn:        func(cause error) bool { return !s.synced && s.hopeless(cause) },
	})
	for event, deltas := range reflector.Deltas(ctx) {
		s.changes += len(deltas)
		if event.Type != lw.Added {
			s.listing = event.Type == lw.Reset
		}
		if err := s.out.print(s.told(deltas), !s.listing); err != nil {
			return err
		}
		if event.Break != nil && event.Break.Final {
			return fmt.Errorf("%s: %w", s.name, event.Break.Err)
		}
		s.tell(event)
		if event.Type == lw.Synced && s.config.when.once {
			return nil
		}
	}
	return context.Cause(ctx)
}

// told makes of changes what is printed.
func (s *stream) told(deltas []cache.Delta[*lw.Object]) []output.Event {
	s.events = s.events[:0]
	now := time.Now()
	for _, d := range deltas {
		e := output.Event{Time: now, Resource: s.kind, Object: d.New, Old: d.Old}
		switch d.Type {
		case cache.Added:
			e.Type = lw.Added
		case cache.Updated:
			e.Type = lw.Modified
		case cache.Deleted:
			e.Type, e.Object = lw.Deleted, d.Old
		}
		s.events = append(s.events, e)
	}
	return s.events
}

// hopeless reports whether an error at the start will not pass by itself: a refusal, a request that is wrong, or no way to
// the server. The first request that is found wrong may be one for a streaming list, which not every server knows.
func (s *stream) hopeless(cause error) bool {
	if dial, ok := errors.AsType[*net.OpError](cause); ok && dial.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		return true
	}
	if status, ok := errors.AsType[*lw.StatusError](cause); ok && (status.Code == http.StatusBadRequest || status.Code == http.StatusUnprocessableEntity) {
		s.wrong++
	}
	return lw.Refused(cause) || s.wrong > 1
}

// tell says on standard error what happens to the connection.
func (s *stream) tell(event lw.Event[*lw.Object]) {
	switch event.Type {
	case lw.Interrupted:
		s.broken, s.relist = true, event.Break.Relist
		next := "resuming from version " + event.ResourceVersion
		if s.relist {
			next = "listing again"
		}
		if event.Break.Delay > 0 {
			next += " in " + event.Break.Delay.Round(100*time.Millisecond).String()
		}
		s.say("%v; %s", event.Break.Err, next)
	case lw.Reset:
		s.changes = 0
	case lw.Synced:
		if s.synced {
			s.say("listed again at version %s: %d changes while blind", event.ResourceVersion, s.changes)
		}
		s.synced = true
	case lw.Live:
		if s.broken {
			s.say("watching from version %s", event.ResourceVersion)
		}
		s.broken = false
	}
}

func (s *stream) say(format string, args ...any) {
	fmt.Fprintf(s.stderr, "lwcat: "+s.name+": "+format+"\n", args...)
}
