package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// cat prints the events of the collections that the command line names, until it is done or refused.
func cat(ctx context.Context, c *config, stdout io.Writer, status *status) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if pipe, ok := stdout.(*os.File); ok {
		go whenUnread(ctx, pipe, func() { fail(syscall.EPIPE) })
	}
	from, err := c.source(ctx, status, fail)
	if err != nil {
		return err
	}
	err = from.advise(ctx, catFrom(ctx, c, from, stdout, status))
	return cmp.Or(from.close(), err) // a recording that is not whole is worth a word, whatever ended it
}

func catFrom(ctx context.Context, c *config, from *source, stdout io.Writer, status *status) error {
	trace := &lw.Trace{Redirected: status.redirected}
	if c.tell.verbose {
		status.traceRequests(trace)
		status.say("%s", from.about)
	}
	ctx = lw.WithTrace(ctx, trace)
	ctx, stop := c.when.deadline(ctx)
	defer stop()
	resources, err := from.resources(ctx, c, status)
	if err != nil {
		return err
	}
	var file *resume
	if c.when.resume != "" {
		if file, err = openResume(c.when.resume, from.server); err != nil {
			return err
		}
	}
	err = follow(ctx, c, from, resources, stdout, status, file)
	return cmp.Or(file.finish(), err)
}

// follow prints the events of resources.
func follow(ctx context.Context, c *config, from *source, resources []lw.Resource, stdout io.Writer, status *status, file *resume) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stats := newStats()
	out, ending := newPrinter(c.how.format, stdout, status), newEnding(&c.when, len(resources))
	endRedraw := redraw(c, out, stdout, status)
	var streams, live sync.WaitGroup
	for i, resource := range resources {
		s := &stream{
			config: c, number: i, resource: resource, kind: nameOf(resource), out: out, ending: ending, kept: file.collection(resource, &c.what),
			teller: teller{name: resource.String(), status: status, meter: &meter{stats: stats}, verbose: c.tell.verbose},
		}
		transport, now, end := from.collection()
		s.now = now
		streams.Go(func() {
			defer end()
			if err := s.run(ctx, transport); err != nil && !errors.Is(err, recording.ErrEnd) {
				cancel(err) // the first one ends them all
			}
		})
	}
	live.Go(func() { status.live(ctx, stats, c.tell.stats) })
	streams.Wait()
	err := context.Cause(ctx)
	cancel(nil)
	live.Wait()
	endRedraw()
	if c.tell.stats {
		fmt.Fprintln(status.out, stats.total().json())
	}
	unwritten := out.print(nil, true) // whole lines, also where a list is left in the middle
	if unwritten == nil {
		file.written()
	}
	err = cmp.Or(err, unwritten)
	if err == nil && from.player != nil {
		return from.end(status)
	}
	return err
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
