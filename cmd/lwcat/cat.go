package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// cat prints the events of the named collections until the run ends or fails.
func cat(ctx context.Context, c *config, stdout io.Writer, status *status) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if pipe, ok := stdout.(*os.File); ok {
		go onReaderGone(ctx, pipe, func() { fail(syscall.EPIPE) })
	}
	if c.recording.replay != "" {
		return c.replay(ctx, stdout, status)
	}
	server, err := c.connect(status.out)
	if err != nil {
		return err
	}
	defer server.http.Close()
	return server.withHint(server.cat(ctx, c, stdout, status))
}

func (s *connection) cat(ctx context.Context, c *config, stdout io.Writer, status *status) (err error) {
	if c.verbosity > 0 {
		status.logf("server %s, context %q, user %q", s.Server, s.Context, s.User)
	}
	ctx = lw.WithTrace(ctx, status.trace(c.verbosity > 0))
	if c.limits.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.limits.timeout, errTimeout)
		defer stop()
	}
	p := &printer{config: c, out: bufio.NewWriterSize(stdout, 64<<10), status: status}
	if c.recording.record != "" { // before the first request, so that the file exists even after a failed start
		if p.recorder, err = newRecorder(c.recording.record); err != nil {
			return err
		}
		defer func() { err = cmp.Or(p.recorder.close(), err) }() // an incomplete recording must always be reported
	}
	if c.resources.names[0] == "api-resources" {
		return s.printTypes(ctx, stdout)
	}
	if c.resources.names[0] == everything {
		return s.catEverything(ctx, c, p)
	}
	resources, err := s.resolve(ctx, &c.resources, status)
	if err != nil {
		return err
	}
	if err := s.checkFields(ctx, c, resources, status); err != nil {
		return err
	}
	if c.limits.resume != "" {
		if p.resume, err = openResume(c.limits.resume, s.Server); err != nil {
			return err
		}
	}
	return s.follow(ctx, c, resources, p)
}

// follow prints the events of resources until one stream fails or all streams end.
func (s *connection) follow(ctx context.Context, c *config, resources []lw.Resource, p *printer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var streams, saving sync.WaitGroup
	var failed atomic.Bool         // whether a stream failed while the other streams continued
	var goal atomic.Pointer[error] // errDone or errCounted after the goal was reached, otherwise nil
	all := c.newStreams(resources, p)
	for _, stream := range all {
		streams.Go(func() {
			err := stream.run(ctx, s.transport)
			if c.limits.verb == "" && continuesAfter(err) { // like kubectl, wait and rollout need all objects
				p.status.logError(s.withHint(err))
				failed.Store(true)
			} else if err != nil {
				if errors.Is(err, errDone) || errors.Is(err, errCounted) {
					goal.Store(&err)
				}
				cancel(err) // the first error ends all streams
			}
		})
	}
	if p.resume != nil {
		saving.Go(func() { p.saveUntil(ctx, cancel) })
	}
	streams.Wait()
	for _, stream := range all { // --wait also waits for named objects; see exitCode
		if c.resources.wait && stream.resource.Name != "" && !stream.found {
			p.status.answered.Store(false)
		}
	}
	err := context.Cause(ctx)
	if reached := goal.Load(); reached != nil && errors.Is(err, syscall.EPIPE) {
		err = *reached // the reader has exited, but only after it had received the last event
	}
	cancel(nil)
	saving.Wait()
	err = p.finish(err)
	err = cmp.Or(p.save(), err)
	if err == nil && failed.Load() {
		return errFailed
	}
	return err
}

// newStreams returns a stream for each resource. The streams share the output and the limits.
func (c *config) newStreams(resources []lw.Resource, p *printer) (all []*stream) {
	p.limiter = newLimiter(&c.limits, len(resources))
	kinds := map[string]bool{}
	for i, resource := range resources {
		kind := shortName(resource)
		kinds[kind] = true
		all = append(all, &stream{
			config: c, resource: resource, kind: kind, order: i, out: p, limiter: p.limiter,
			reporter: reporter{name: resource.String(), status: p.status, verbose: c.verbosity > 0},
		})
	}
	c.output.options.Resources = len(kinds) > 1
	if c.limits.verb != "" && c.limits.until[0] == "create" && resources[0].Name != "" { // all named objects must exist
		c.limits.conditions[0].Count = strconv.Itoa(len(resources))
	}
	return all
}

// continuesAfter reports whether the other streams continue after one stream fails with err: if the server has rejected
// its requests, or if a named object does not exist.
func continuesAfter(err error) bool {
	_, missing := errors.AsType[*notFoundError](err)
	_, rejected := errors.AsType[*streamError](err)
	return missing || rejected
}

// shortName returns a collection's name without its namespace, for example "deployments.apps". For a raw path, it
// returns the path.
func shortName(r lw.Resource) string {
	r.Namespace, r.Name = "", ""
	return r.String()
}

// printer writes the events of all streams to standard output, and to the files of --record and --resume.
type printer struct {
	*config
	limiter  *limiter
	mu       sync.Mutex    // streams print concurrently; guards out, the format, recorder and resume
	out      *bufio.Writer // standard output
	status   *status
	recorder *recorder      // nil without --record
	resume   *resumeFile    // nil without --resume
	held     []output.Event // the events of a list, until all lists are complete and can be printed in the order of the arguments
}

// print writes an event's changes, and flushes them if flush is true. During a list, flush is false until the last
// change, so that a table can be aligned. If hidden is true, changes are recorded but not printed. whole is false if
// --count or --until ended the run before the event's last change. The resume file must then not contain the event's
// resourceVersion, because the next run would otherwise skip the remaining changes.
func (p *printer) print(s *stream, event *lw.Event[*lw.Object], changes []output.Event, whole, hidden, flush bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recorder != nil {
		if err := p.recorder.write(s, event, changes); err != nil {
			return err
		}
	}
	if p.resume != nil {
		p.resume.add(s.resumeID(), event, changes, whole)
	}
	for i := range changes {
		switch {
		case hidden || p.limits.quiet || !p.limits.shows(&changes[i]):
		case p.output.options.Once:
			p.held = append(p.held, changes[i])
		default:
			p.output.format.Print(p.out, &changes[i])
		}
	}
	if !flush {
		return nil
	}
	return p.flushLocked()
}

func (p *printer) flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flushLocked()
}

// finish flushes the output. If the run prints only the result of --until, finish prints it first. It returns err, the
// error of the run. If the run was successful but its output could not be written, finish returns that error instead.
// But a condition that holds is a success even if the reader of the output has exited.
func (p *printer) finish(err error) error {
	if p.limits.quiet {
		p.out.WriteString(p.limiter.results())
	}
	p.output.sort(p.held)
	if p.output.options.List && slices.Contains([]error{nil, errDone, errCounted, errUnmet, errFailed}, err) {
		list, failed := output.List(p.held)
		p.held, err = list, cmp.Or(failed, err)
	} else if p.output.options.List { // for example after ^C, because an incomplete List would look complete
		p.held = nil
	}
	for i := range p.held {
		p.output.format.Print(p.out, &p.held[i])
	}
	failed := p.flush()
	if failed == nil || err != nil && err != errCounted && (!errors.Is(err, errDone) || errors.Is(failed, syscall.EPIPE)) {
		return err
	}
	return failed
}

// flushLocked writes the events that print has held back. It marks them for the resume file only after a successful
// write. If the write fails, the next run therefore prints them again. The caller holds mu.
func (p *printer) flushLocked() (err error) {
	if p.recorder != nil {
		if err := p.recorder.out.Flush(); err != nil {
			return recordError(err)
		}
	}
	p.output.format.Flush(p.out)
	err = p.out.Flush()
	if err == nil && p.resume != nil {
		p.resume.commit()
	}
	return err
}

// saveUntil saves the resume file regularly until ctx is done. If another process writes to the file, saveUntil calls
// fail. Other errors may be temporary, so only the last save of the run reports them.
func (p *printer) saveUntil(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = p.flush() // so that the objects of a long list appear; the error is ignored, because the next print returns it again
		if err := p.save(); errors.Is(err, errShared) {
			fail(err)
			return
		}
	}
}

// save saves the printed state to the resume file. It does not hold mu while it writes the file, so that a slow disk
// does not delay the output. Only one goroutine may call it at a time.
func (p *printer) save() error {
	if p.resume == nil {
		return nil
	}
	p.mu.Lock()
	snapshot := p.resume.store.Snapshot()
	p.mu.Unlock()
	return p.resume.save(snapshot)
}
