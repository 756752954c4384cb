//go:build !js

package ws

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// connection is the upgraded connection of a watch in the form that gorilla/websocket expects. The HTTP transport has
// already performed the handshake, but gorilla repeats it: it writes a handshake request, which Write discards, and
// reads the response that the HTTP transport has received.
type connection struct {
	net.Conn // nil; its methods are never called, because gorilla uses only the methods below
	upgraded io.ReadWriteCloser
	redact   func(text string) string // removes the request's credential from text that the server has sent

	response bytes.Buffer // the part of the handshake response that gorilla has not read yet
	readErr  error        // final error of reads
	deadline time.Time    // deadline of the next write
	silent   atomic.Bool  // whether giveUp closed the connection
}

const accept = "Sec-Websocket-Accept"

// upgrade sends gorilla's handshake request through the HTTP transport and keeps the response for gorilla.
func (c *connection) upgrade(ctx context.Context, base *lwhttp.Transport, req *lw.Request, handshake http.Header) error {
	header, upgraded, redact, err := base.Upgrade(ctx, req, handshake)
	if status, ok := err.(*lw.StatusError); ok && (status.Code == http.StatusForbidden || status.Code == http.StatusNotFound) {
		return &handshakeError{status}
	}
	if err != nil {
		return err
	}
	c.upgraded, c.redact = upgraded, redact
	c.response.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = http.Header{"Connection": header["Connection"], "Upgrade": header["Upgrade"], accept: header[accept]}.Write(&c.response)
	c.response.WriteString("\r\n")
	return nil
}

// Write discards the handshake request, which gorilla writes before it reads the response. The upgraded connection has
// no SetWriteDeadline, so Write closes it at the deadline.
func (c *connection) Write(p []byte) (int, error) {
	if c.response.Len() > 0 {
		return len(p), nil
	}
	late := time.AfterFunc(time.Until(c.deadline), c.giveUp)
	defer late.Stop()
	return c.upgraded.Write(p)
}

// giveUp closes the connection because the peer did not respond.
func (c *connection) giveUp() {
	c.silent.Store(true)
	_ = c.upgraded.Close()
}

// Read never returns an error together with data, because gorilla would then report the error before it has processed the
// data.
func (c *connection) Read(p []byte) (n int, err error) {
	switch {
	case c.response.Len() > 0:
		return c.response.Read(p)
	case c.readErr == nil:
		n, c.readErr = c.upgraded.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, c.readErr
}

func (c *connection) Close() error { return c.upgraded.Close() }

// SetWriteDeadline sets the deadline of the next write. gorilla does not call it concurrently with Write.
func (c *connection) SetWriteDeadline(t time.Time) error { c.deadline = t; return nil }

// SetDeadline does nothing. gorilla calls it only for the handshake, which the context of the request already limits.
func (c *connection) SetDeadline(time.Time) error { return nil }
