package lw

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// fault classifies a failure. It determines the next request.
type fault uint8

const (
	connection fault = iota // the connection broke, or a gateway cannot reach the server
	overload                // the server asks the client to slow down
	expired                 // the resourceVersion or the continue token is too old
	badVersion              // the resourceVersion does not belong to the server's history, for example because it is too large
	protocol                // the response is not usable, for example malformed JSON or an unexpected status code
	permanent               // the server returned 401, 403 or 404
)

// faultOf classifies a failure. It treats an unknown error as a connection fault, because transports have their own
// error types.
func faultOf(err error) fault {
	switch {
	case errors.Is(err, ErrExpired):
		return expired
	case errors.Is(err, ErrResourceVersionTooLarge), errors.Is(err, invalid.ErrVersionRegressed), errors.Is(err, invalid.ErrReplaced):
		return badVersion
	case IsPermanent(err):
		return permanent
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.fault()
	}
	if answered(err) && !isHTML(err) {
		return protocol
	}
	return connection
}

func (e *StatusError) fault() fault {
	switch {
	case e.Code == 429, e.Code == 503 && e.RetryAfter > 0:
		return overload
	case e.Code >= 502 && e.Code <= 504, e.Code >= 500 && isMarkup(e.Message):
		return connection
	}
	return protocol
}

// answered reports whether err means that the server or a gateway sent an unusable response. A truncated body counts as
// a connection failure instead.
func answered(err error) bool {
	_, tooLarge := errors.AsType[*FrameTooLargeError](err)
	return tooLarge || statusCode(err) != 0 || errors.Is(err, ErrInvalidResponse)
}

// isHTML reports whether a successful response was an HTML page. Gateways and captive portals send such pages.
func isHTML(err error) bool {
	e, ok := errors.AsType[*MalformedError](err)
	return ok && e.html
}

// isMarkup reports whether text is HTML. Gateways send an HTML page as the message of an error response.
func isMarkup(text string) bool { return text != "" && text[0] == '<' }

// statusCode returns the HTTP status code of a *StatusError, or zero for other errors.
func statusCode(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Code
	}
	return 0
}
