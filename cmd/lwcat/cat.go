package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// cat prints the events of the collections that the command line names, until it is done or refused.
func cat(ctx context.Context, c *config, stdout, stderr io.Writer) error {
	over, err := lwhttp.New(c.server, &c.connect)
	if err != nil {
		return err
	}
	defer over.Close()
	transport := c.over(over)
	resources, err := resolve(ctx, transport, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := newPrinter(c.output, stdout)
	var streams sync.WaitGroup
	for _, resource := range resources {
		streams.Go(func() {
			s := &stream{config: c, name: resource.String(), out: out, stderr: stderr}
			if err := s.run(ctx, transport, resource); err != nil {
				cancel(err) // the first one ends them all
			}
		})
	}
	streams.Wait()
	return context.Cause(ctx)
}

// over returns the transport that the command line names.
func (c *config) over(http *lwhttp.Transport) lw.Transport {
	switch c.transport {
	case "ws":
		return lwws.New(http, nil)
	case "auto":
		return fallback.New(http, lwws.New(http, nil))
	}
	return http
}

// stream prints one collection.
type stream struct {
	config *config
	name   string
	out    *printer
	stderr io.Writer

	synced  bool // a list was complete
	listing bool // one is arriving
	broken  bool // since the last Live
	relist  bool // what comes is another list
	changes int  // that it brought
	wrong   int  // requests that the server found wrong
}

func (s *stream) run(ctx context.Context, transport lw.Transport, resource lw.Resource) error {
	client, err := lw.NewClient(transport, resource, lw.RawCodec{KeepManagedFields: s.config.managedFields}, nil)
	if err != nil {
		return err
	}
	reflector := cache.NewReflector(client, &lw.Options{
		LabelSelector: s.config.labels,
		FieldSelector: s.config.fields,
		StopOn:        func(cause error) bool { return !s.synced && s.hopeless(cause) },
	})
	for event, deltas := range reflector.Deltas(ctx) {
		s.changes += len(deltas)
		if event.Type != lw.Added {
			s.listing = event.Type == lw.Reset
		}
		if err := s.out.print(deltas, !s.listing); err != nil {
			return err
		}
		if event.Break != nil && event.Break.Final {
			return fmt.Errorf("%s: %w", s.name, event.Break.Err)
		}
		s.tell(event)
		if event.Type == lw.Synced && s.config.once {
			return nil
		}
	}
	return context.Cause(ctx)
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
