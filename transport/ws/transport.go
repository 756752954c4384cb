//go:build !js

package ws

import (
	"context"
	"crypto/fips140"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// transport implements [lw.Transport].
type transport struct {
	base  *lwhttp.Transport
	limit int64 // maximum size of a message in bytes
}

// New returns a transport that opens watches over WebSocket. Each watch has its own connection. The transport uses the
// server, credentials, TLS options and proxies of base, and sends all other requests through base. Closing base also
// releases its resources.
//
// The body of a watch contains the messages, joined by newlines. It ends with:
//
//   - io.EOF, if the server closed with code 1000, like a kube-apiserver
//   - an error with the code, if the server closed with another code
//   - io.ErrUnexpectedEOF or a network error, if the connection ended without a close frame
//   - [lw.ErrSilent], if the peer does not answer pings or does not receive data
//   - [lw.ErrTooLarge], if a message is larger than 64 MiB
//   - an error with the violation, if the server violated the protocol
//   - the cause of ctx, if ctx is done
//
// Protobuf watches use HTTP, because newlines must not separate protobuf events. The transport returns a
// *[lw.StatusError] for an error response to the handshake. It returns an error that wraps [errors.ErrUnsupported] if
// the server ignored the upgrade or responded incorrectly. With GODEBUG=fips140=only, it returns such an error for
// every watch that needs WebSocket.
func New(base *lwhttp.Transport) lw.Transport { return &transport{base: base, limit: maxMessage} }

func (t *transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	if !req.Watch || strings.Contains(req.Accept, "protobuf") {
		return t.base.Open(ctx, req)
	}
	if fips140.Enforced() {
		return nil, errFIPS
	}
	c := &connection{}
	dialer := websocket.Dialer{
		// The buffers are small, because most watches are idle. Larger reads bypass the buffer.
		ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 8,
		// The HTTP transport sends the handshake, because it handles credentials, TLS, proxies and redirects. gorilla calls
		// Proxy before it dials, so Proxy can pass gorilla's handshake request to the HTTP transport.
		Proxy:          func(r *http.Request) (*url.URL, error) { return nil, c.upgrade(ctx, t.base, req, r.Header) },
		NetDialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil },
	}
	conn, _, err := dialer.DialContext(ctx, "ws://upgrade/", nil) // a placeholder, because base knows the server's URL
	switch {
	case err == nil:
		return &lw.Response{ReadCloser: newBody(ctx, conn, c, t.limit), Redact: c.redact}, nil
	case c.upgraded != nil: // the HTTP transport accepted the response, but gorilla did not
		err = fmt.Errorf("%w: %s", errNotUpgraded, c.redact(strings.TrimPrefix(err.Error(), "websocket: ")))
	}
	return nil, err
}
