package main

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/table"
	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// stream prints one collection.
type stream struct {
	config   *config
	number   int
	resource lw.Resource
	kind     string // in what is printed
	out      *printer
	ending   *ending
	kept     *kept            // what --resume keeps; nil without
	now      func() time.Time // of a replay: when that was recorded which is told; else nil
	tables   *table.Transport // of the server's own columns; nil unless they are printed
	teller

	restoring bool           // what comes is what --from or --resume began with
	blind     bool           // since --from: what is not known may be there all the same
	listing   bool           // a list is arriving
	events    []output.Event // of the batch at hand
	wrong     int            // requests that the server found wrong
}

func (s *stream) run(ctx context.Context, transport lw.Transport) error {
	client, err := s.client(transport)
	if err != nil {
		return err
	}
	if err := s.shards(ctx, client); err != nil {
		return err
	}
	reflector := cache.NewReflector(client, &lw.Options{
		LabelSelector: s.config.what.labels,
		FieldSelector: s.config.what.fields,
		ShardSelector: s.config.what.shardSelector,
		StopOn:        func(cause error) bool { return recording.Over(cause) || !s.answered && s.hopeless(cause) },
	})
	if err := s.restore(reflector); err != nil {
		return err
	}
	for event, changes := range reflector.Changes(clock.WithReplay(s.traced(ctx), s.now)) {
		if s.restoring {
			s.restored(event)
			continue
		}
		if last, err := s.follow(event, changes); last || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// restore begins a reflector with what --from or --resume says.
func (s *stream) restore(reflector *cache.Reflector[*lw.Object]) error {
	switch {
	case s.config.when.from != "":
		reflector.RestoreObjects(s.config.when.from, nil)
		s.restoring, s.blind = true, true
	case s.kept != nil && s.kept.known():
		objects, err := s.kept.objects()
		if err != nil {
			return err
		}
		version := s.kept.ResourceVersion
		if s.config.when.once {
			version = "" // a list tells what has changed, and ends
		}
		reflector.RestoreObjects(version, objects)
		s.restoring = true
	}
	return nil
}

func (s *stream) restored(event lw.Event[*lw.Object]) {
	switch event.Type {
	case lw.Added:
		s.ending.see(s.number, []output.Event{{Type: lw.Added, Object: event.Object}}, false)
	case lw.Synced:
		s.restoring = false
		s.complete()
		if event.ResourceVersion != "" {
			s.say("going on from version %s", event.ResourceVersion)
		}
	}
}

// follow prints what an event changed, and tells what it means. It returns whether it is the last.
func (s *stream) follow(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) (last bool, err error) {
	s.meter.decoded()
	if event.Type != lw.Added {
		s.listing = event.Type == lw.ListStarted
	}
	s.blind = s.blind && event.Type != lw.ListStarted
	events := s.told(event, changes)
	print := !s.config.when.watchOnly || s.synced
	seen, last := s.ending.see(s.number, events, print)
	written, all := !print || !s.listing || last, len(seen) == len(events)
	if print {
		if err = s.print(seen, written); err != nil {
			return true, err
		}
	}
	if event.Type == lw.Bookmark && s.config.how.bookmarks {
		if err := s.out.mark(&output.Mark{Time: s.clock(), Resource: s.kind, ResourceVersion: event.ResourceVersion}); err != nil {
			return true, err
		}
	}
	if err := s.kept.note(seen, s.toldUpTo(event, all), written); err != nil {
		return true, err
	}
	if event.Interruption != nil && event.Interruption.Final {
		return true, fmt.Errorf("%s: %w", s.resource, event.Interruption.Err)
	}
	s.tell(event, len(events))
	if event.Type == lw.Synced {
		last = s.complete() || last
		if s.config.when.once && !last {
			return true, nil
		}
	}
	if last {
		return true, s.ending.reason()
	}
	return false, nil
}

// print prints events and counts them.
func (s *stream) print(events []output.Event, flush bool) error {
	if err := s.out.print(events, flush); err != nil {
		return err
	}
	s.meter.printed(len(events))
	return nil
}

// toldUpTo returns the version up to which all has been told that happened, if that is an event's.
func (s *stream) toldUpTo(event lw.Event[*lw.Object], whole bool) string {
	switch event.Type {
	case lw.Added, lw.Modified, lw.Deleted, lw.Bookmark, lw.Synced:
		if whole && !s.listing {
			return event.ResourceVersion
		}
	}
	return ""
}

// complete notes that the collection is known. It returns whether that was the last to wait for.
func (s *stream) complete() (last bool) {
	if !s.synced {
		last = s.ending.complete()
	}
	s.synced = true
	return last
}

// clock returns the time, or of a replay when that was recorded which is told.
func (s *stream) clock() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}
