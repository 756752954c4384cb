package lw

import (
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// fault is the kind of a failure. Every failure has exactly one, and it decides what follows.
type fault uint8

const (
	connection fault = iota // the way to the server: broken, silent, closed, or a gateway that cannot reach it
	overload                // the server asks to slow down
	expired                 // the resourceVersion or the continue token is too old
	badVersion              // the resourceVersion is too large, or ran backwards
	protocol                // the answer is not usable: garbage, pages that circle, an unexpected status
	permanent               // 401, 403 or 404
)

// faultOf classifies a failure. Connection is the default, because the errors of transports are unknown here.
func faultOf(err error) fault {
	switch {
	case errors.Is(err, ErrExpired):
		return expired
	case errors.Is(err, ErrResourceVersionTooLarge), errors.Is(err, invalid.ErrVersionRegressed):
		return badVersion
	case IsPermanent(err):
		return permanent
	case err == invalid.ErrNoProgress, err == invalid.ErrInconsistentPages, err == invalid.ErrNoInitialEnd, err == invalid.ErrShardIgnored:
		return protocol
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
	case e.Code >= 502 && e.Code <= 504, e.Status.Status == "" && e.Code >= 500 && isMarkup(e.Message):
		return connection
	}
	return protocol
}

// answered reports whether the server, or a gateway in front of it, answered something that is not usable. A body that was
// cut short is the connection's fault.
func answered(err error) bool {
	if e, ok := errors.AsType[*MalformedError](err); ok {
		return e.Err != io.ErrUnexpectedEOF
	}
	if _, ok := errors.AsType[*FrameTooLargeError](err); ok {
		return true
	}
	return statusCode(err) != 0
}

// isHTML reports whether a page was answered with success, as gateways and captive portals do.
func isHTML(err error) bool {
	e, ok := errors.AsType[*MalformedError](err)
	return ok && e.html
}

func isMarkup(text string) bool { return text != "" && text[0] == '<' }

// statusCode returns the HTTP status code of a *StatusError; zero for other errors.
func statusCode(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Code
	}
	return 0
}
