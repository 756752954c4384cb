package lwtest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"
)

// The server cancels request contexts with one of these causes.
var (
	errDropped       = errors.New("lwtest: the connection was dropped")
	errWatchesClosed = errors.New("lwtest: the watches were closed")
)

type inflight struct {
	request Request
	cancel  context.CancelCauseFunc
}

// begin registers a request. The returned context is canceled when the client disconnects or when the server cancels
// the request. If the server cancels it, context.Cause returns the reason, for example errDropped.
func (s *Server) begin(r *http.Request, request Request) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	in := &inflight{request: request, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		cancel(errDropped)
	}
	tracked := !s.down && isWebSocket(r) // net/http does not track hijacked connections, so s.serving does
	if tracked {
		s.serving.Add(1)
	}
	s.inflight[in] = struct{}{}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inflight, in)
		if tracked {
			s.serving.Done()
		}
	}
}

func (s *Server) underWay() []*inflight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.inflight))
}

// wrote compacts the history and wakes the watches. Call it after each write, with s.mu held.
func (s *Server) wrote() {
	s.log.Compact(s.log.Revision() - s.opts.history)
	s.wake()
}

// wake notifies all goroutines that wait for a change. The caller must hold s.mu.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// waitFor blocks until the server reaches a revision. After Options.freshnessWait it returns a ResourceVersionTooLarge
// error.
func (s *Server) waitFor(ctx context.Context, revision int64) error {
	timer := time.NewTimer(s.opts.freshnessWait)
	defer timer.Stop()
	for {
		s.mu.Lock()
		current, changed := s.log.Revision(), s.changed
		s.mu.Unlock()
		if current >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return tooLarge(revision, current)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
