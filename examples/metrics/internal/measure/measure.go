// Package measure defines the labels and histogram buckets that the packages prometheus and otel share.
package measure

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Upper bounds of histogram buckets.
var (
	// OpenSeconds ends at 90 s, which is how long the library waits for a response header.
	OpenSeconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90}
	// DelaySeconds covers a stream's delays, which are at most 60 s unless a Retry-After header causes a longer one.
	DelaySeconds = []float64{0, 1, 2, 4, 8, 16, 32, 64}
	// FrameBytes includes a bound above 1.5 MiB, etcd's default limit for the size of an object.
	FrameBytes = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
)

// Verb returns "list" or "watch". A streaming list is a watch.
func Verb(req *lw.Request) string {
	if req.Watch {
		return "watch"
	}
	return "list"
}

// causes assigns label values to errors. If an error matches several entries, the first one applies.
var causes = []struct {
	name string
	is   func(error) bool
}{
	{"closed", is(lw.ErrWatchClosed)},
	{"expired", is(lw.ErrExpired)},
	{"too_large", is(lw.ErrResourceVersionTooLarge)},
	{"silent", is(lw.ErrSilent)},
	{"unauthorized", is(lw.ErrUnauthorized)},
	{"forbidden", is(lw.ErrForbidden)},
	{"not_found", is(lw.ErrNotFound)},
	{"too_many_requests", is(lw.ErrTooManyRequests)},
	{"server_error", func(err error) bool {
		status, ok := errors.AsType[*lw.StatusError](err)
		return ok && status.Code >= 500
	}},
	{"refused", as[*lw.StatusError]},
	{"frame_too_large", is(lw.ErrTooLarge)},
	{"undecodable", as[*lw.DecodeError]},
	{"invalid_response", is(lw.ErrInvalidResponse)},
	{"canceled", func(err error) bool { // before "connection", because context.DeadlineExceeded is a net.Error
		return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}},
	{"tls", func(err error) bool {
		return as[*tls.CertificateVerificationError](err) || as[tls.AlertError](err) || as[tls.RecordHeaderError](err)
	}},
	{"connection", func(err error) bool {
		return as[net.Error](err) || as[syscall.Errno](err) || errors.Is(err, net.ErrClosed) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}},
	// For example, a proxy does not support WebSockets. This entry is the last one, because some system errors match
	// errors.ErrUnsupported.
	{"unsupported", is(errors.ErrUnsupported)},
}

// Cause returns one of 18 label values for an error. The value never contains a part of the error message. Unknown
// errors, such as some HTTP/2 stream errors, have the value "other".
func Cause(err error) string {
	for _, cause := range causes {
		if cause.is(err) {
			return cause.name
		}
	}
	return "other"
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// State follows a traced stream's [lw.State]. All methods may be called concurrently, because metrics are read in
// other goroutines.
type State struct {
	mu    sync.Mutex
	state lw.State
}

// NewState returns the state of a stream that has not started yet.
func NewState() *State {
	return &State{state: lw.State{}.After(lw.Interrupted, &lw.Interruption{}, time.Now())}
}

// Begin must be called before each request. If the trace is reused for another stream, Begin resets the state.
func (s *State) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(time.Now())
}

func (s *State) begin(now time.Time) {
	if s.state.Phase == lw.Stopped {
		s.state = s.state.After(lw.Interrupted, &lw.Interruption{Err: s.state.Cause}, now)
	}
}

// Event must be called for each event.
func (s *State) Event(event lw.Event[lw.Keyed]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.begin(now) // necessary here, too, because a stream reports a restored state before its first request
	s.state = s.state.After(event.Type, event.Interruption, now)
}

// End must be called when the stream ends.
func (s *State) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = s.state.After(lw.Interrupted, &lw.Interruption{Err: s.state.Cause, Final: true}, time.Now())
}

// Load returns the current state.
func (s *State) Load() lw.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Phases returns all phases.
func Phases() []lw.Phase { return []lw.Phase{lw.Waiting, lw.Listing, lw.Live, lw.Stale, lw.Stopped} }
