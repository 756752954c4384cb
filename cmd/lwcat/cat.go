package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// cat prints the events of the named collections until the run is done or fails.
func cat(ctx context.Context, c *config, stdout io.Writer, status *status) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if pipe, ok := stdout.(*os.File); ok {
		go onReaderGone(ctx, pipe, func() { fail(syscall.EPIPE) })
	}
	source, err := c.open(ctx, status, fail)
	if err != nil {
		return err
	}
	err = source.withHint(catSource(ctx, c, source, stdout, status))
	return cmp.Or(source.close(), err) // an incomplete recording is always reported
}

func catSource(ctx context.Context, c *config, source *source, stdout io.Writer, status *status) error {
	trace := &lw.Trace{Redirected: status.logRedirect}
	if c.log.verbose {
		status.traceRequests(trace)
		status.logf("%s", source.description)
	}
	ctx = lw.WithTrace(ctx, trace)
	ctx, stop := c.limits.deadline(ctx)
	defer stop()
	resources, err := source.resources(ctx, c, status)
	if err != nil {
		return err
	}
	if err := c.limits.validateResources(resources); err != nil {
		return err
	}
	var file *resumeFile
	if c.limits.resume != "" {
		if file, err = openResume(c.limits.resume, source.serverURL, status); err != nil {
			return err
		}
	}
	err = followAll(ctx, c, source, resources, stdout, status, file)
	return cmp.Or(file.close(), err)
}

// followAll prints the events of resources until one stream fails or all end.
func followAll(ctx context.Context, c *config, source *source, resources []lw.Resource, stdout io.Writer, status *status, file *resumeFile) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stats := newStats()
	out, limiter := newPrinter(c.output.format, stdout, status), newLimiter(&c.limits, len(resources))
	var streams, rates sync.WaitGroup
	var failed atomic.Bool // whether a stream failed while the other streams continued
	for i, resource := range resources {
		s := &stream{
			config: c, number: i, resource: resource, kind: shortName(resource), out: out, limiter: limiter, progress: newProgress(file, resource, &c.resources),
			reporter: reporter{name: resource.String(), status: status, meter: &meter{stats: stats, resource: shortName(resource)}, verbose: c.log.verbose},
		}
		transport, now, end := source.newCollection()
		s.now = now
		streams.Go(func() {
			defer end()
			err := s.run(ctx, transport)
			_, missing := errors.AsType[*notFoundError](err)
			if _, rejected := errors.AsType[*streamError](err); missing || rejected && c.resources.keepGoing {
				status.logError(source.withHint(err))
				failed.Store(true)
			} else if err != nil && !errors.Is(err, recording.ErrEnd) {
				cancel(err) // the first error ends all streams
			}
		})
	}
	if file != nil {
		go file.run(cancel)
	}
	if c.log.stats {
		rates.Go(func() { status.showRates(ctx, stats) })
	}
	streams.Wait()
	err := context.Cause(ctx)
	cancel(nil)
	rates.Wait()
	if c.log.stats {
		fmt.Fprintln(status.out, stats.snapshot().json())
	}
	err = cmp.Or(err, file.commit(out))
	if err == nil && failed.Load() {
		return errFailed
	}
	if err == nil && source.player != nil {
		return source.reportEnd(status)
	}
	return err
}

// shortName returns a collection's name without its namespace, for example "pods" or "deployments.apps", or its path.
func shortName(r lw.Resource) string {
	switch {
	case r.Raw != "":
		return r.Raw
	case r.Group != "":
		return r.Plural + "." + r.Group
	}
	return r.Plural
}
