package ws

import (
	"errors"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ErrProtocol says that the server, or what is in between, broke the rules of WebSocket (RFC 6455) or of its compression
// (RFC 7692). A browser tells a page only that the connection ended, which is io.ErrUnexpectedEOF.
var ErrProtocol = errors.New("the server broke the rules of WebSocket")

// ErrFIPS says that WebSocket's handshake takes SHA-1 (RFC 6455), though not for security, and that GODEBUG=fips140=only
// forbids it. It is an [errors.ErrUnsupported], so that package fallback goes over to HTTP.
var ErrFIPS error = forbidden{}

type forbidden struct{}

func (forbidden) Error() string { return "WebSocket needs SHA-1, which GODEBUG=fips140=only forbids" }
func (forbidden) Unwrap() error { return errors.ErrUnsupported }

// handshakeError is the error response to a handshake. It is an [errors.ErrUnsupported], because a proxy that rejects
// WebSockets answers 403 or 404 too. So package fallback tries HTTP.
type handshakeError struct{ *lw.StatusError }

func (e *handshakeError) Unwrap() []error { return []error{e.StatusError, errors.ErrUnsupported} }

// CloseError says that the server closed a WebSocket for another reason than the watch's end.
type CloseError struct {
	Code   int    // of RFC 6455, section 7.4, as 1001 for a server that goes away and 1011 for one that failed
	Reason string // as the server gave it; seldom any
}

func (e *CloseError) Error() string {
	text := "the server closed the WebSocket with code " + strconv.Itoa(e.Code)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}
