package measure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestCause(t *testing.T) {
	status := func(code int, reason string) error {
		return &lw.StatusError{Code: code, Reason: reason, Message: "pods \"web-0\" …"}
	}
	_, cut := lw.ParseValue([]byte("["))
	_, malformed := lw.ParseValue([]byte("<"))
	get := func(err error) error { return &url.Error{Op: "Get", URL: "https://k8s.example", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Err: err} }
	seen := map[string]bool{"other": true}
	for _, c := range []struct {
		want string
		errs []error
	}{
		{"closed", []error{lw.ErrWatchClosed}},
		{"expired", []error{lw.ErrExpired, status(410, "Expired"), status(410, ""), status(200, "Gone")}},
		{"too_large", []error{lw.ErrResourceVersionTooLarge, &lw.StatusError{
			Code: 504, Causes: []lw.StatusCause{{Reason: "ResourceVersionTooLarge"}},
		}}},
		{"silent", []error{lw.ErrSilent}},
		{"unauthorized", []error{status(401, "Unauthorized")}},
		{"forbidden", []error{status(403, "Forbidden")}},
		{"not_found", []error{status(404, "NotFound")}},
		{"too_many_requests", []error{status(429, "TooManyRequests")}},
		{"server_error", []error{status(500, "InternalError"), status(503, ""), status(504, "Timeout")}},
		{"refused", []error{status(400, "BadRequest"), status(422, "Invalid")}},
		{"frame_too_large", []error{lw.ErrTooLarge}},
		{"undecodable", []error{&lw.DecodeError{Err: io.EOF}}},
		{"invalid_response", []error{lw.ErrInvalidResponse, malformed}},
		{"canceled", []error{context.Canceled, context.DeadlineExceeded, get(context.Canceled)}},
		{"tls", []error{get(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), tls.RecordHeaderError{},
			&net.OpError{Op: "remote error", Err: tls.AlertError(42)}}},
		{"connection", []error{io.EOF, get(io.EOF), io.ErrUnexpectedEOF, cut, read(syscall.ECONNRESET), syscall.ECONNREFUSED,
			read(os.ErrDeadlineExceeded), net.ErrClosed, &net.DNSError{Name: "k8s.example"}}},
		{"unsupported", []error{errors.ErrUnsupported}},
		{"other", []error{errors.New("the token command failed"), nil}},
	} {
		for _, err := range c.errs {
			require.Equal(t, c.want, Cause(err), "%v", err)
			if err != nil {
				require.Equal(t, c.want, Cause(fmt.Errorf("pods: %w", err)))
			}
		}
		seen[c.want] = true
	}
	for _, cause := range causes {
		require.True(t, seen[cause.name], "cause %s must have a test case", cause.name)
	}
	require.Len(t, seen, 18, "if the number of label values changes, update the doc comment of Cause")
}
