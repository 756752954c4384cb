//go:build !js

package ws

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// CloseError says that the server closed a WebSocket for another reason than the watch's end.
type CloseError struct {
	Code   int    // of RFC 6455, section 7.4, as 1001 for a server that goes away and 1011 for one that failed
	Reason string // as the server gave it; seldom any
}

func (e *CloseError) Error() string {
	text := "the server closed the WebSocket with code " + strconv.Itoa(e.Code)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// body is a watch's messages, joined by newlines.
type body struct {
	ctx   context.Context
	conn  *websocket.Conn
	limit int64
	pace  pace
	stop  func() bool // ends the watch over ctx

	message io.Reader // the one that is being read
	between bool      // a newline is due

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

func newBody(ctx context.Context, conn *websocket.Conn, limit int64, p pace) *body {
	b := &body{ctx: ctx, conn: conn, limit: limit, pace: p}
	conn.SetPongHandler(func(string) error { b.hear(true); return nil })
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
		_ = b.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(b.pace.dead-b.pace.ask)) // the reader sees what is wrong
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Reset(b.pace.ask / 2)
	}
}

func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b.hear(true)
	defer b.hear(false)
	for {
		if b.message == nil {
			_, message, err := b.conn.NextReader() // text or binary
			if err != nil {
				return 0, b.cause(err)
			}
			b.message = message
			if b.between {
				p[0] = '\n'
				return 1, nil
			}
			b.between = true
		}
		n, err := b.message.Read(p)
		if err == io.EOF {
			b.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, b.cause(err)
		}
	}
}

// cause tells why the connection ended.
func (b *body) cause(err error) error {
	if err == nil {
		return nil
	}
	b.mu.Lock()
	silent := b.silent
	b.mu.Unlock()
	closed, isClose := errors.AsType[*websocket.CloseError](err)
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case silent:
		return lw.ErrSilent
	case errors.Is(err, websocket.ErrReadLimit):
		return &lw.FrameTooLargeError{Limit: int(b.limit)}
	case !isClose:
		return err
	case closed.Code == websocket.CloseNormalClosure:
		return io.EOF
	case closed.Code == websocket.CloseAbnormalClosure: // gorilla's word for none
		return io.ErrUnexpectedEOF
	}
	return &CloseError{Code: closed.Code, Reason: closed.Text}
}

// Close ends the watch. The server is not told, as it would not answer before it has sent what it has to.
func (b *body) Close() error {
	b.stop()
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	return b.conn.Close()
}
