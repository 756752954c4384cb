package turns

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	answerTimeout = 10 * time.Second // a WebSocket without an answer for this long counts as rejected
	retryAfter    = 2 * time.Minute  // a server that rejected a WebSocket is asked again after this time
)

var errNoAnswer error = &unsupported{"the server did not answer the WebSocket handshake"}

// Support is what is known about the WebSockets of one server.
type Support struct {
	attempt  chan struct{} // held by the only attempt while nothing is known
	accepted bool          // the server accepted a WebSocket at least once
	refused  error
	at       time.Time // of refused
}

// NewSupport returns a Support that knows nothing.
func NewSupport() *Support { return &Support{attempt: make(chan struct{}, 1)} }

// Sockets is a [lw.Transport] over WebSocket that spares a server without WebSockets most attempts. Until the server accepts
// one, it makes one attempt at a time, and none for two minutes after a rejection: each attempt is an error in the browser's
// console, takes a connection, and makes Firefox delay the next one.
type Sockets struct {
	WebSocket lw.Transport
	*Support
}

// Open implements [lw.Transport].
func (s *Sockets) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if !req.Watch {
		return s.WebSocket.Open(ctx, req)
	}
	select {
	case s.attempt <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case s.accepted:
		<-s.attempt
		return s.WebSocket.Open(ctx, req)
	case s.refused != nil && time.Since(s.at) < retryAfter:
		<-s.attempt
		return nil, s.refused
	}
	defer func() { <-s.attempt }()
	ctx, cancel := context.WithCancelCause(ctx) // the parent ends it
	timer := time.AfterFunc(answerTimeout, func() { cancel(errNoAnswer) })
	body, err := s.WebSocket.Open(ctx, req)
	timer.Stop()
	if s.accepted = err == nil; errors.Is(err, errors.ErrUnsupported) {
		s.refused, s.at = err, time.Now()
	}
	return body, err
}
