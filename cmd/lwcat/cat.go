package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/transport/fallback"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	lwws "github.com/seed-6d2a410a/listwatch/transport/ws"
)

// cat prints the events of the collections that the command line names, until it is done or refused.
func cat(ctx context.Context, c *config, stdout io.Writer, status *status) error {
	over, err := lwhttp.New(c.where.server, &c.where.connect)
	if err != nil {
		return err
	}
	defer over.Close()
	if c.tell.verbose {
		trace := new(lw.Trace)
		status.traceRequests(trace)
		ctx = lw.WithTrace(ctx, trace)
	}
	ctx, stop := c.when.deadline(ctx)
	defer stop()
	transport := c.where.over(over)
	resources, err := resolve(ctx, transport, &c.what)
	if err != nil {
		return err
	}
	var file *resume
	if c.when.resume != "" {
		if file, err = openResume(c.when.resume, c.where.server); err != nil {
			return err
		}
	}
	err = follow(ctx, c, transport, resources, stdout, status, file)
	return cmp.Or(file.finish(), err)
}

// follow prints the events of resources.
func follow(ctx context.Context, c *config, transport lw.Transport, resources []lw.Resource, stdout io.Writer, status *status, file *resume) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stats := newStats()
	out, ending := newPrinter(c.how.format, stdout, status), newEnding(&c.when, len(resources))
	var streams, live sync.WaitGroup
	for i, resource := range resources {
		s := &stream{
			config: c, number: i, resource: resource, kind: nameOf(resource), out: out, ending: ending, kept: file.collection(resource, &c.what),
			teller: teller{name: resource.String(), status: status, meter: &meter{stats: stats}, verbose: c.tell.verbose},
		}
		streams.Go(func() {
			if err := s.run(ctx, transport); err != nil {
				cancel(err) // the first one ends them all
			}
		})
	}
	live.Go(func() { status.live(ctx, stats, c.tell.stats) })
	streams.Wait()
	err := context.Cause(ctx)
	cancel(nil)
	live.Wait()
	if c.tell.stats {
		fmt.Fprintln(status.out, stats.total().json())
	}
	return err
}

// over returns the transport that the command line names.
func (w *where) over(http *lwhttp.Transport) lw.Transport {
	switch w.transport {
	case "ws":
		return lwws.New(http, nil)
	case "auto":
		return fallback.New(http, lwws.New(http, nil))
	}
	return http
}

// nameOf returns what a collection is called where its namespace does not matter: "pods", "deployments.apps", or its path.
func nameOf(r lw.Resource) string {
	switch {
	case r.Raw != "":
		return r.Raw
	case r.Group != "":
		return r.Plural + "." + r.Group
	}
	return r.Plural
}
