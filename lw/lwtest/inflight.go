package lwtest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Why a request that is under way is ended.
var (
	errDropped       = errors.New("lwtest: the connection was dropped")
	errWatchesClosed = errors.New("lwtest: the watches were closed")
)

type inflight struct {
	request Request
	cancel  context.CancelCauseFunc
}

// begin enters a request that is under way. Its context ends with the client's interest or for one of the errors above,
// which is its cause.
func (s *Server) begin(r *http.Request, request Request) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	in := &inflight{request: request, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		cancel(errDropped)
	}
	awaited := !s.down && isWebSocket(r) // nothing else makes Stop wait once net/http has given away the connection
	if awaited {
		s.serving.Add(1)
	}
	s.inflight[in] = struct{}{}
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inflight, in)
		if awaited {
			s.serving.Done()
		}
	}
}

// underWay is the requests that are so now.
func (s *Server) underWay() []*inflight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.inflight))
}

// wrote is called with s.mu held after every write to the log.
func (s *Server) wrote() {
	s.log.Compact(s.log.Revision() - s.opts.History)
	s.wake()
}

// wake makes everything that waits for the log look again. s.mu is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// waitFor waits up to Options.FreshnessWait for a revision and gives the refusal if it does not come.
func (s *Server) waitFor(ctx context.Context, revision int64) error {
	patience := time.NewTimer(s.opts.FreshnessWait)
	defer patience.Stop()
	for {
		s.mu.Lock()
		current, changed := s.log.Revision(), s.changed
		s.mu.Unlock()
		if current >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-patience.C:
			return tooLarge(revision, current)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
