//go:build !js

package http

import (
	"context"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Upgrade asks for another protocol on the connection of a request. It sends the headers that the protocol needs, and uses
// the same credentials, TLS and proxies as other requests. It returns the headers of the response, and the connection. The
// caller owns the connection, and the end of ctx does not close it. [lw.Redact] removes the credential from text that comes
// over the connection. Instead of HTTP/2, Upgrade uses a connection of HTTP/1.1.
func (t *Transport) Upgrade(ctx context.Context, req *lw.Request, header http.Header) (http.Header, io.ReadWriteCloser, error) {
	response, secrets, err := t.do(ctx, req, header)
	if err != nil {
		return nil, nil, err
	}
	connection, ok := response.Body.(io.ReadWriteCloser)
	if response.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = response.Body.Close()
		return nil, nil, ErrNotUpgraded
	}
	return response.Header, &upgraded{connection, secrets}, nil
}

type upgraded struct {
	io.ReadWriteCloser
	secrets redact.Secrets
}

// Redact is for [lw.Redact].
func (u *upgraded) Redact(text string) string { return u.secrets.Text(text) }

// Origin returns the server's origin (RFC 6454), as "https://127.0.0.1:6443".
func (t *Transport) Origin() string { return origin(t.authenticator.server) }
