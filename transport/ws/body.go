//go:build !js

package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// body is the response body of a watch. It joins the WebSocket messages with newlines.
type body struct {
	ctx        context.Context
	conn       *websocket.Conn
	connection *connection // the connection that conn uses
	limit      int64
	stopWatch  func() bool // stops context.AfterFunc, which closes the connection when ctx is done

	// The timers run only during a Read, because otherwise nothing would notice that the peer has sent data.
	ping, silence *time.Timer

	message    io.Reader // the message that is being read, or nil
	newlineDue bool      // a newline must precede the next message
	err        error     // final error; all further reads return it
}

const (
	pingInterval = 30 * time.Second // the client sends a ping after this time without data
	pongTimeout  = 15 * time.Second // the client closes the connection this long after an unanswered ping; as in transport/http
)

func newBody(ctx context.Context, conn *websocket.Conn, c *connection, limit int64) *body {
	b := &body{ctx: ctx, conn: conn, connection: c, limit: limit}
	b.ping = time.AfterFunc(pingInterval, func() {
		_ = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(pongTimeout))
	})
	b.silence = time.AfterFunc(pingInterval+pongTimeout, c.giveUp)
	b.stopTimers()
	conn.SetReadLimit(limit)
	conn.SetPongHandler(func(string) error { b.restartTimers(); return nil })
	conn.SetPingHandler(func(data string) error {
		b.restartTimers()
		// If this write times out, Read returns lw.ErrSilent.
		_ = conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(pongTimeout))
		return nil
	})
	b.stopWatch = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return b
}

func (b *body) restartTimers() {
	b.ping.Reset(pingInterval)
	b.silence.Reset(pingInterval + pongTimeout)
}

func (b *body) stopTimers() {
	b.ping.Stop()
	b.silence.Stop()
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	b.restartTimers()
	defer b.stopTimers()
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
	closed, isClose := errors.AsType[*websocket.CloseError](err)
	violation, isViolation := strings.CutPrefix(err.Error(), "websocket: ")
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, websocket.ErrReadLimit):
		return lw.ErrTooLarge
	case b.connection.silent.Load():
		return lw.ErrSilent
	case isClose && closed.Code == websocket.CloseNormalClosure:
		return io.EOF
	case isClose && closed.Code == websocket.CloseAbnormalClosure: // gorilla's error for the end of the connection
		return io.ErrUnexpectedEOF
	case isClose:
		return &closeError{Code: closed.Code, Reason: b.connection.redact(closed.Text)}
	case isViolation:
		return fmt.Errorf("%w: %s", errProtocol, b.connection.redact(violation))
	}
	return b.connection.readErr // gorilla's error has the same message, but may not wrap the same errors
}

// Close ends the watch. It sends no close frame, because the server's reply would arrive only after all pending data.
func (b *body) Close() error {
	b.stopWatch()
	_ = b.conn.Close() // the connection may already be closed because ctx is done
	return nil
}
