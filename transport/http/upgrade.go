//go:build !js

package http

import (
	"context"
	"io"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Upgrade asks the server to switch to another protocol. header contains the headers that the protocol requires.
// Upgrade uses the same credentials, TLS options and proxies as other requests, but always HTTP/1.1. It returns the
// response headers and the connection. The caller owns the connection, which stays open when ctx is done. The
// connection has a method Redact(text string) string, which removes the credentials from received text.
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

// Redact removes the credential of the request from text. See package redact.
func (u *upgraded) Redact(text string) string { return u.secrets.Text(text) }

// Origin returns the server's origin (RFC 6454), for example "https://127.0.0.1:6443".
func (t *Transport) Origin() string { return origin(t.authenticator.server) }
