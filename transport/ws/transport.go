//go:build !js

package ws

import (
	"context"
	"crypto/fips140"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options configure a [Transport]. The zero value is good.
type Options struct {
	// MaxMessage is the largest message accepted, in bytes after decompression; [lw.DefaultMaxFrame] if zero. A message is
	// an event. A larger one is a *[lw.FrameTooLargeError], and closes the connection with the code 1009. No message is
	// held: the limit is for whoever reads.
	MaxMessage int64

	// Compression offers permessage-deflate (RFC 7692), which a kube-apiserver declines. It costs up to 50 kB for each watch.
	Compression bool
}

// Transport is a [lw.Transport] that watches over WebSocket. All methods may run concurrently. Each watch has a connection
// of its own.
type Transport struct {
	over      *lwhttp.Transport
	dialer    websocket.Dialer
	opts      Options
	keepalive keepalive
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport that makes its handshakes over another one, with its server, credentials, TLS and proxies, and
// leaves to it what is no watch. opts may be nil. There is nothing to close but the other one.
func New(over *lwhttp.Transport, opts *Options) *Transport {
	t := &Transport{over: over, keepalive: defaultKeepalive}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.MaxMessage <= 0 {
		t.opts.MaxMessage = lw.DefaultMaxFrame
	}
	// Small buffers, as most watches are idle most of the time; what is larger is read past them.
	t.dialer = websocket.Dialer{ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 8, EnableCompression: t.opts.Compression}
	return t
}

// Open implements [lw.Transport]. A watch's messages come joined by newlines. Its body ends in good order where the server
// closed with the code 1000, as a kube-apiserver does; with a *[CloseError] where it closed with another one; with
// io.ErrUnexpectedEOF where the connection ended without, or else the connection's own error; with [lw.ErrSilent] where
// the peer answers no pings or takes no answers to its own; with a *[lw.FrameTooLargeError]; with [ErrProtocol]; or with
// the context's cause. A watch in protobuf goes over the other transport, because its events must not be joined by newlines.
// A refused handshake is a *[lw.StatusError], as for any request; one that was answered as if it had
// been none, or wrongly, is [lwhttp.ErrNotUpgraded]. With GODEBUG=fips140=only all are [ErrFIPS].
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if !req.Watch || strings.Contains(req.Accept, "protobuf") {
		return t.over.Open(ctx, req)
	}
	if fips140.Enforced() {
		return nil, ErrFIPS
	}
	hand := &handshake{ctx: ctx, transport: t.over, req: req}
	dialer := t.dialer
	dialer.NetDialContext = func(context.Context, string, string) (net.Conn, error) { return hand, nil }
	conn, _, err := dialer.DialContext(ctx, "ws://upgrade/", http.Header{"Origin": {t.over.Origin()}})
	if err != nil {
		_ = hand.Close()
		switch {
		case hand.err != nil:
			err = hand.err // gorilla's own says less
		case hand.upgraded != nil:
			err = responseError(lw.Redact(hand.upgraded, strings.TrimPrefix(err.Error(), "websocket: ")))
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return newBody(ctx, conn, hand, t.opts.MaxMessage, t.keepalive), nil
}
