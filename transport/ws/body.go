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

	"github.com/seed-6d2a410a/listwatch/lw"
)

// body is the response body of a watch. It joins the WebSocket messages with newlines.
type body struct {
	ctx       context.Context
	conn      *websocket.Conn
	handshake *handshake // the connection that conn uses
	limit     int64
	stopWatch func() bool // stops context.AfterFunc, which closes the connection when ctx is done

	message    io.Reader // the message that is being read, or nil
	newlineDue bool      // a newline must precede the next message
	err        error     // final error; all further reads return it

	mu       sync.Mutex
	lastRead time.Time // when data last arrived or Read was called, whichever is later; zero while no Read is active
	timedOut bool      // the connection was closed because the peer did not answer pings
	timer    *time.Timer
}

const (
	pingInterval = 30 * time.Second // time without data after which the client sends a ping
	pongTimeout  = 15 * time.Second // time from the ping until the client closes the connection, as over HTTP/2 in transport/http
)

func newBody(ctx context.Context, conn *websocket.Conn, hand *handshake, limit int64) *body {
	b := &body{ctx: ctx, conn: conn, handshake: hand, limit: limit}
	conn.SetReadLimit(limit)
	conn.SetPongHandler(func(string) error { b.resetIdle(true); return nil })
	conn.SetPingHandler(func(data string) error {
		b.resetIdle(true)
		b.writeControl(websocket.PongMessage, []byte(data))
		return nil
	})
	b.mu.Lock() // the lock is necessary, because the timer may call checkPeer before the assignment
	b.timer = time.AfterFunc(pingInterval/2, b.checkPeer)
	b.mu.Unlock()
	b.stopWatch = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return b
}

// resetIdle restarts the measurement of the idle time. If reading is false, no Read is active, and the measurement
// pauses until the next Read.
func (b *body) resetIdle(reading bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastRead = time.Now()
	if !reading {
		b.lastRead = time.Time{}
	}
}

// checkPeer pings the peer after pingInterval without data, and closes the connection after another pongTimeout.
func (b *body) checkPeer() {
	b.mu.Lock()
	quiet := time.Duration(0)
	if !b.lastRead.IsZero() {
		quiet = time.Since(b.lastRead)
	}
	b.timedOut = b.timedOut || quiet >= pingInterval+pongTimeout
	dead := b.timedOut
	b.mu.Unlock()
	if dead {
		_ = b.conn.Close()
		return
	}
	if quiet >= pingInterval {
		b.writeControl(websocket.PingMessage, nil)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Reset(pingInterval / 2)
	}
}

// writeControl sends a control frame. If the write times out, the peer counts as dead.
func (b *body) writeControl(kind int, data []byte) {
	_ = b.conn.WriteControl(kind, data, time.Now().Add(pongTimeout))
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	b.resetIdle(true)
	defer b.resetIdle(false)
	n, err := b.readNext(p)
	if err != nil {
		b.err = b.endError(err)
	}
	return n, b.err
}

// readNext reads the next bytes of the current message into p. Before each message except the first, it returns a
// newline.
func (b *body) readNext(p []byte) (int, error) {
	for {
		if b.message == nil {
			_, message, err := b.conn.NextReader() // accepts text messages and binary messages
			if err != nil {
				return 0, err
			}
			b.message = message
			if b.newlineDue {
				p[0] = '\n'
				return 1, nil
			}
			b.newlineDue = true
		}
		n, err := b.message.Read(p)
		if err == io.EOF {
			b.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// endError converts the error of a broken or closed connection to the error that Read returns.
func (b *body) endError(err error) error {
	b.mu.Lock()
	silent := b.timedOut || b.handshake.writeTimedOut.Load()
	b.mu.Unlock()
	closed, isClose := errors.AsType[*websocket.CloseError](err)
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, websocket.ErrReadLimit):
		return &lw.FrameTooLargeError{Limit: int(b.limit)}
	case b.handshake.readErr != nil && silent:
		return lw.ErrSilent
	case b.handshake.readErr == io.EOF:
		return io.ErrUnexpectedEOF
	case b.handshake.readErr != nil:
		return b.handshake.readErr
	case !isClose:
		return fmt.Errorf("%w: %s", ErrProtocol, b.handshake.redact(strings.TrimPrefix(err.Error(), "websocket: ")))
	case closed.Code == websocket.CloseNormalClosure:
		return io.EOF
	}
	return &CloseError{Code: closed.Code, Reason: b.handshake.redact(closed.Text)}
}

// Close ends the watch. It sends no close frame, because the server would respond only after all pending data.
func (b *body) Close() error {
	b.stopWatch()
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	_ = b.conn.Close() // the connection may already be closed because ctx is done
	return nil
}
