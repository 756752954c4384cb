package ws

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/jsx"
	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// transport implements [lw.Transport].
type transport struct {
	base  *lwhttp.Transport
	limit int64 // maximum size of all unread messages of a watch in bytes
}

// New returns a transport that opens watches to the server of base over the browser's WebSocket. Each watch has its own
// connection. The transport sends the token as a subprotocol, because a page cannot set headers. It sends all other
// requests through base.
//
// The body of a watch contains the messages, joined by newlines. It ends with io.EOF if the server closed with code
// 1000, like a kube-apiserver. If the server closed with another code, the body ends with an error that contains the
// code. If the connection broke, it ends with io.ErrUnexpectedEOF. A page cannot slow the server down, so unread
// messages need a limit: if they exceed 64 MiB, the body ends with [lw.ErrTooLarge].
//
// A page cannot see why a handshake was rejected. So Open sends the same request over HTTP and returns its error
// response. If that request succeeds, Open tries the WebSocket once more, because Chrome cancels the first handshake
// with a server that requests client certificates. After the second failure, Open returns an error that
// wraps [errors.ErrUnsupported].
//
// If the server ends a watch at once, for example because its resourceVersion has expired, Firefox discards the
// message. Open then opens the watch over HTTP.
func New(base *lwhttp.Transport) lw.Transport { return &transport{base: base, limit: maxMessage} }

func (t *transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if !req.Watch {
		return t.base.Open(ctx, req)
	}
	// This request over HTTP shows why the handshake failed. It must end soon, because Firefox reports a response only
	// after its first byte or its end.
	probe := *req
	query := req.Query
	if end := strings.LastIndex(query, "&timeoutSeconds="); end >= 0 { // lw adds the timeout last
		query = query[:end]
	}
	probe.Query = query + "&timeoutSeconds=2"
	for range 2 {
		b, err := t.dial(ctx, req)
		if err == nil {
			return &lw.Response{ReadCloser: b, Redact: b.secrets.Text}, nil
		}
		if errors.Is(err, jsx.ErrLost) {
			return t.base.Open(ctx, req)
		}
		if _, rejected := errors.AsType[*jsx.Failure](err); !rejected {
			return nil, err
		}
		answer, err := t.base.Open(ctx, &probe)
		if err != nil {
			return nil, err
		}
		_ = answer.Close()
	}
	return nil, errNotUpgraded
}

// A kube-apiserver accepts a token in a subprotocol only if the client also offers another subprotocol, which the
// server then selects. The name of this other subprotocol is arbitrary.
const (
	tokenProtocol = "base64url.bearer.authorization.k8s.io."
	otherProtocol = "listwatch.v1"
)

func (t *transport) dial(ctx context.Context, req *lw.Request) (*body, error) {
	url, token, err := t.base.Address(ctx, req)
	if err != nil {
		return nil, err
	}
	stream := jsx.NewStream(ctx, "ws"+url[len("http"):])
	if token != "" { // Add without a name adds a subprotocol
		stream.Add("", tokenProtocol+base64.RawURLEncoding.EncodeToString([]byte(token)))
		stream.Add("", otherProtocol)
	}
	if err := stream.Dial(t.limit); err != nil {
		_ = stream.Close()
		return nil, err
	}
	return &body{stream, t.limit, redact.Secrets{token}}, nil
}

// body is the response body of a watch. It joins the WebSocket messages with newlines.
type body struct {
	*jsx.Stream
	limit   int64
	secrets redact.Secrets
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Stream.Read(p)
	if failure, ok := err.(*jsx.Failure); ok {
		failure.Text = b.secrets.Text(failure.Text)
	}
	if err == jsx.ErrLimit {
		return 0, lw.ErrTooLarge
	}
	if err != io.EOF {
		return n, err
	}
	switch code := b.Code(); code {
	case 1000: // closed normally (RFC 6455, section 7.4)
		return 0, io.EOF
	case 1006: // closed without a close frame
		return 0, io.ErrUnexpectedEOF
	default:
		return 0, &closeError{Code: code, Reason: b.secrets.Text(b.Failure())}
	}
}
