package ws

import (
	"context"
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/internal/turns"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// Options configure a [Transport]. The zero value is good.
type Options struct {
	// MaxMessage is the largest message accepted, in bytes; [lw.DefaultMaxFrame] if zero. A message is an event. Nor may more
	// than this wait to be read, as a page cannot tell a server to send more slowly. Both are a *[lw.FrameTooLargeError].
	MaxMessage int64
}

// Transport is a [lw.Transport] that watches over the browser's WebSocket. All methods may run concurrently. Each watch has a
// connection of its own.
type Transport struct {
	over *lwhttp.Transport
	opts Options
}

var _ lw.Transport = (*Transport)(nil)

// New returns a transport to the server of another one, with its token, which goes as a subprotocol, as a page can set no
// headers; what is no watch is left to the other. opts may be nil. There is nothing to close but the other one.
func New(over *lwhttp.Transport, opts *Options) *Transport {
	t := &Transport{over: over}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.MaxMessage <= 0 {
		t.opts.MaxMessage = lw.DefaultMaxFrame
	}
	return t
}

// Open implements [lw.Transport]. A watch's messages come joined by newlines. Its body ends in good order where the server
// closed with the code 1000, as a kube-apiserver does; with a *[CloseError] where it closed with another one, and with
// io.ErrUnexpectedEOF where the connection ended without.
//
// A page is not told why a handshake was refused. So the same is then asked over HTTP, whose refusal is returned; if it is
// none, the WebSocket is tried once more, as Chrome cancels the first to a server that asks for client certificates, and
// then [lwhttp.ErrNotUpgraded] is returned. Firefox loses what a server says when it ends a watch at once, as it does with a
// version that is too old: such a watch is left to HTTP, over which that is seen.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	if !req.Watch {
		return t.over.Open(ctx, req)
	}
	for range 2 {
		b, err := t.dial(ctx, req)
		if err == nil {
			return b, nil
		}
		if errors.Is(err, jsx.ErrLost) {
			return t.over.Open(ctx, req)
		}
		if _, refused := errors.AsType[*jsx.Failure](err); !refused {
			return nil, err
		}
		probe, err := t.over.Open(ctx, turns.Brief(req)) // Firefox shows no answer without events before its end
		if err != nil {
			return nil, err
		}
		_ = probe.Close()
	}
	return nil, lwhttp.ErrNotUpgraded
}

// A kube-apiserver takes a token as a subprotocol only if one other is offered, whose name does not matter, and which it
// then chooses.
const (
	tokenProtocol = "base64url.bearer.authorization.k8s.io."
	otherProtocol = "listwatch.v1"
)

func (t *Transport) dial(ctx context.Context, req *lw.Request) (*body, error) {
	url, token, err := t.over.Address(ctx, req)
	if err != nil {
		return nil, err
	}
	stream := jsx.NewStream("ws" + url[len("http"):])
	if token != "" {
		stream.Add("", tokenProtocol+redact.Base64(token))
		stream.Add("", otherProtocol)
	}
	if err := stream.Dial(ctx, t.opts.MaxMessage); err != nil {
		stream.Close()
		return nil, err
	}
	return &body{ctx: ctx, stream: stream, limit: t.opts.MaxMessage, secrets: redact.Secrets{token}}, nil
}

// body is a watch's messages, joined by newlines.
type body struct {
	ctx     context.Context
	stream  *jsx.Stream
	limit   int64
	secrets redact.Secrets
}

// Redact removes the credential of the request from text. See package redact.
func (b *body) Redact(text string) string { return b.secrets.Text(text) }

func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.stream.Read(b.ctx, p)
	switch {
	case errors.Is(err, jsx.ErrLimit):
		return 0, &lw.FrameTooLargeError{Limit: int(b.limit)}
	case n > 0 || err != nil:
		if failure, ok := err.(*jsx.Failure); ok {
			failure.Text = b.Redact(failure.Text)
		}
		return n, err
	}
	switch code := b.stream.Code(); code {
	case 1000:
		return 0, io.EOF
	case 1006:
		return 0, io.ErrUnexpectedEOF
	default:
		return 0, &CloseError{Code: code, Reason: b.Redact(b.stream.Failure())}
	}
}

// Close ends the watch.
func (b *body) Close() error {
	b.stream.Close()
	return nil
}
