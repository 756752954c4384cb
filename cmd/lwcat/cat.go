package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
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

// followAll prints the events of resources until one stream fails or all streams end.
func followAll(ctx context.Context, c *config, source *source, resources []lw.Resource, stdout io.Writer, status *status, file *resumeFile) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stats := newStats()
	out := newPrinter(c.output.format, stdout, status)
	var streams sync.WaitGroup
	var failed atomic.Bool         // whether a stream failed while the other streams continued
	var goal atomic.Pointer[error] // the error that reports that --until or --count was reached, or nil
	for _, s := range c.newStreams(resources, out, status, stats, file) {
		transport, now, end := source.newCollection()
		s.now = now
		streams.Go(func() {
			defer end()
			err := s.run(ctx, transport)
			if c.continuesAfter(err) {
				status.logError(source.withHint(err))
				failed.Store(true)
			} else if err != nil && !errors.Is(err, recording.ErrEnd) {
				if errors.Is(err, errDone) || errors.Is(err, errCounted) {
					goal.Store(&err)
				}
				cancel(err) // the first error ends all streams
			}
		})
	}
	if file != nil {
		go file.run(cancel)
	}
	logTotals := func() {}
	if c.log.stats {
		logTotals = status.logStats(ctx, stats)
	}
	streams.Wait()
	err := context.Cause(ctx)
	if reached := goal.Load(); reached != nil && errors.Is(err, syscall.EPIPE) {
		err = *reached // the reader exited after it had received the last event
	}
	cancel(nil)
	logTotals()
	err = cmp.Or(err, file.commit(out))
	switch {
	case err == nil && failed.Load():
		return errFailed
	case err == nil && source.player != nil:
		return source.reportEnd(status)
	}
	return err
}

// newStreams returns a stream for each resource. The streams share the output, the limits and the statistics.
func (c *config) newStreams(resources []lw.Resource, out *printer, status *status, stats *stats, file *resumeFile) (all []*stream) {
	limiter := newLimiter(&c.limits, len(resources))
	for i, resource := range resources {
		kind := shortName(resource)
		all = append(all, &stream{
			config: c, number: i, resource: resource, kind: kind, out: out, limiter: limiter, progress: newProgress(file, resource, &c.resources),
			reporter: reporter{name: resource.String(), status: status, meter: &meter{stats: stats, resource: kind}, verbose: c.log.verbose},
		})
	}
	return all
}

// continuesAfter reports whether the other streams continue after one stream fails with err.
func (c *config) continuesAfter(err error) bool {
	if _, missing := errors.AsType[*notFoundError](err); missing {
		return true
	}
	_, rejected := errors.AsType[*streamError](err)
	return rejected && c.resources.keepGoing
}

// shortName returns a collection's name without its namespace, for example "deployments.apps". For a raw path, it
// returns the path.
func shortName(r lw.Resource) string {
	switch {
	case r.Raw != "":
		return r.Raw
	case r.Group != "":
		return r.Plural + "." + r.Group
	}
	return r.Plural
}

// printer writes the events of all streams to standard output.
type printer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	format output.Format
	status *status
}

func newPrinter(format output.Format, out io.Writer, status *status) *printer {
	return &printer{out: bufio.NewWriterSize(out, 64<<10), format: format, status: status}
}

// print writes events, and flushes them if flush is true. flush is false while more events of the same list follow.
func (p *printer) print(events []output.Event, flush bool) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range events {
		p.format.Print(p.out, &events[i])
	}
	if !flush {
		return nil
	}
	p.status.withoutLine(func() {
		p.format.Flush(p.out)
		err = p.out.Flush()
	})
	return err
}
