//go:build !js

package http

import (
	"context"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Upgrade asks for another protocol on the connection of a request, with the headers that the protocol wants, and with the
// credentials, the TLS and the proxies of all requests. It returns the headers of the answer, and the connection, which
// belongs to the caller from then on, whatever becomes of ctx. Over HTTP/2 it makes a connection of HTTP/1.1.
func (t *Transport) Upgrade(ctx context.Context, req *lw.Request, header http.Header) (http.Header, io.ReadWriteCloser, error) {
	response, err := t.do(ctx, req, header)
	if err != nil {
		return nil, nil, err
	}
	connection, ok := response.Body.(io.ReadWriteCloser)
	if response.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = response.Body.Close()
		return nil, nil, ErrNotUpgraded
	}
	return response.Header, connection, nil
}

// Origin returns the server's origin (RFC 6454), as "https://127.0.0.1:6443".
func (t *Transport) Origin() string { return origin(t.guard.server) }
