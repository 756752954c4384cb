package turns

import (
	"context"
	"errors"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	// answer is the timeout of a WebSocket handshake, and a timeout counts as a rejection. Some proxies never answer, for example
	// Vite's without the option ws: true. Other watches wait meanwhile, so the timeout is shorter than that of a request.
	answer = 5 * time.Second
	again  = 2 * time.Minute // time from a rejection to the next handshake, because the server or a proxy may have changed
)

var errNoAnswer error = &unsupported{"the server did not respond to the WebSocket handshake"}

// Support records whether a server supports WebSockets.
type Support struct {
	turn     chan struct{} // locks the other fields, like a mutex; a channel, so that a canceled context ends the wait
	accepted bool          // the server has accepted a WebSocket
	refused  error         // the latest rejection, or nil
	at       time.Time     // time of the latest rejection
}

// NewSupport returns the Support of a server that has not been contacted yet.
func NewSupport() *Support { return &Support{turn: make(chan struct{}, 1)} }

// Sockets is an [lw.Transport] over WebSocket that limits handshakes with servers that lack WebSocket support. Until a
// server accepts a WebSocket, Sockets sends one handshake at a time. After a rejection, it sends none for two minutes.
// Each failed handshake uses a connection, logs an error in the browser's console, and makes Firefox delay the next
// handshake.
type Sockets struct {
	WebSocket lw.Transport
	*Support
}

// Open implements [lw.Transport].
func (s *Sockets) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if !req.Watch { // needs no limit, because package ws sends it over HTTP, without a handshake
		return s.WebSocket.Open(ctx, req)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	switch {
	case s.accepted:
		<-s.turn
		return s.WebSocket.Open(ctx, req)
	case s.refused != nil && time.Since(s.at) < again:
		<-s.turn
		return nil, s.refused
	}
	defer func() { <-s.turn }()
	ctx, cancel := context.WithCancelCause(ctx) // not canceled on return, because the body uses it
	timer := time.AfterFunc(answer, func() { cancel(errNoAnswer) })
	body, err := s.WebSocket.Open(ctx, req)
	timer.Stop()
	if s.accepted = err == nil; errors.Is(err, errors.ErrUnsupported) { // other errors, for example 403, do not show a lack of support
		s.refused, s.at = err, time.Now()
	}
	return body, err
}
