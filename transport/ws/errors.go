package ws

import (
	"errors"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxMessage is the maximum size of a message in bytes. In a browser, it is the maximum total size of the unread
// messages of a watch.
const maxMessage = 64 << 20

// errProtocol reports that the server or a proxy violated the WebSocket protocol (RFC 6455). In a browser, the error is
// io.ErrUnexpectedEOF instead.
var errProtocol = errors.New("the server violated the WebSocket protocol")

// errFIPS reports that GODEBUG=fips140=only forbids SHA-1. The WebSocket handshake requires SHA-1 (RFC 6455), although
// not for security. errFIPS wraps [errors.ErrUnsupported], so package fallback falls back to HTTP.
var errFIPS error = unsupported("WebSocket needs SHA-1, which GODEBUG=fips140=only forbids")

// errNotUpgraded reports that the server or a proxy answered the handshake incorrectly.
var errNotUpgraded error = unsupported("the server or a proxy does not support WebSocket")

type unsupported string

func (e unsupported) Error() string { return string(e) }
func (unsupported) Unwrap() error   { return errors.ErrUnsupported }

// handshakeError is a 403 or 404 response to a handshake. The response may come from a proxy that rejects WebSockets.
// The error therefore wraps [errors.ErrUnsupported], so that package fallback tries HTTP.
type handshakeError struct{ *lw.StatusError }

func (e *handshakeError) Unwrap() []error { return []error{e.StatusError, errors.ErrUnsupported} }

// closeError reports that the server closed a WebSocket with a code other than 1000.
type closeError struct {
	Code   int    // close code (RFC 6455, section 7.4); for example 1001 if the server shuts down, or 1011 if it failed
	Reason string // close reason from the server; usually empty
}

func (e *closeError) Error() string {
	text := "the server closed the WebSocket with code " + strconv.Itoa(e.Code)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}
