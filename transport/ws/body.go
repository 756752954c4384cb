//go:build !js

package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// body is a watch's messages, joined by newlines.
type body struct {
	ctx   context.Context
	conn  *websocket.Conn
	hand  *handshake // what conn reads and writes
	limit int64
	pace  pace
	stop  func() bool // ends the watch over ctx

	message io.Reader // the one that is being read
	size    int64     // of it, until now
	between bool      // a newline is due
	err     error     // the end, which stays

	mu     sync.Mutex
	heard  time.Time // when something came last, or was first waited for; zero: the caller has the word
	silent bool      // closed as nothing came, not even an answer to pings
	timer  *time.Timer
}

// pace is when a peer is asked whether it is there, and when it is taken for dead.
type pace struct{ ask, dead time.Duration }

// usualPace asks after 30 seconds of silence, and every 15 from then on; a kube-apiserver answers, and says nothing of its
// own. It is that of HTTP/2 in transport/http.
var usualPace = pace{ask: 30 * time.Second, dead: 45 * time.Second}

func newBody(ctx context.Context, conn *websocket.Conn, hand *handshake, limit int64, p pace) *body {
	b := &body{ctx: ctx, conn: conn, hand: hand, limit: limit, pace: p}
	conn.SetReadLimit(limit)
	conn.SetPongHandler(func(string) error { b.hear(true); return nil })
	conn.SetPingHandler(func(data string) error {
		b.hear(true)
		b.control(websocket.PongMessage, []byte(data))
		return nil
	})
	b.mu.Lock() // which look needs, should it come at once
	b.timer = time.AfterFunc(p.ask/2, b.look)
	b.mu.Unlock()
	b.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return b
}

// hear notes that something came, or that the caller has the word and nothing is waited for.
func (b *body) hear(waits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard = time.Now(); !waits {
		b.heard = time.Time{}
	}
}

// look asks a silent peer whether it is there, and closes the connection to one that does not answer.
func (b *body) look() {
	b.mu.Lock()
	quiet := time.Duration(0)
	if !b.heard.IsZero() {
		quiet = time.Since(b.heard)
	}
	b.silent = b.silent || quiet >= b.pace.dead
	dead := b.silent
	b.mu.Unlock()
	if dead {
		_ = b.conn.Close()
		return
	}
	if quiet >= b.pace.ask {
		b.control(websocket.PingMessage, nil)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Reset(b.pace.ask / 2)
	}
}

// control sends a frame of control. A peer that does not take it in time is as good as dead: see [handshake.Write]. The
// reader sees what is wrong.
func (b *body) control(kind int, data []byte) {
	_ = b.conn.WriteControl(kind, data, time.Now().Add(b.pace.dead-b.pace.ask))
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	b.hear(true)
	defer b.hear(false)
	n, err := b.next(p)
	if err != nil {
		b.err = b.cause(err)
	}
	return n, b.err
}

// next reads what comes next: a newline between two messages, or a part of one.
func (b *body) next(p []byte) (int, error) {
	for {
		if b.message == nil {
			_, message, err := b.conn.NextReader() // text or binary
			if err != nil {
				return 0, err
			}
			b.message, b.size = message, 0
			if b.between {
				p[0] = '\n'
				return 1, nil
			}
			b.between = true
		}
		n, err := b.message.Read(p)
		if b.size += int64(n); b.size > b.limit { // gorilla counts what was sent, which may have been compressed
			b.control(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseMessageTooBig, ""))
			return 0, websocket.ErrReadLimit
		}
		if err == io.EOF {
			b.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// cause tells why the connection ended.
func (b *body) cause(err error) error {
	b.mu.Lock()
	silent := b.silent || b.hand.stuck.Load()
	b.mu.Unlock()
	closed, isClose := errors.AsType[*websocket.CloseError](err)
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, websocket.ErrReadLimit):
		return &lw.FrameTooLargeError{Limit: int(b.limit)}
	case b.hand.failure != nil && silent:
		return lw.ErrSilent
	case b.hand.failure == io.EOF:
		return io.ErrUnexpectedEOF
	case b.hand.failure != nil:
		return b.hand.failure
	case !isClose:
		return fmt.Errorf("%w: %s", ErrProtocol, b.Redact(strings.TrimPrefix(err.Error(), "websocket: ")))
	case closed.Code == websocket.CloseNormalClosure:
		return io.EOF
	}
	return &CloseError{Code: closed.Code, Reason: b.Redact(closed.Text)}
}

// Redact removes the credential of the request from text. See package redact.
func (b *body) Redact(text string) string { return redact.Body(b.hand.upgraded, text) }

// Close ends the watch. The server is not told, as it would not answer before it has sent what it has to.
func (b *body) Close() error {
	b.stop()
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	_ = b.conn.Close() // the end of ctx may have done so
	return nil
}
