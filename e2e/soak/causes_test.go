package soak

import (
	"errors"
	"io"
	"strconv"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Causes of interruptions that must occur in every run.
const (
	expired  = "410 expired"
	closed   = "closed cleanly"
	silent   = "idle timeout"
	cutShort = "truncated JSON"
	broken   = "connection reset"
	ended    = "unexpected end of the connection"
)

// causes assigns names to errors. The first matching entry applies.
var causes = []struct {
	target error
	name   string
}{
	{lw.ErrExpired, expired},
	{lw.ErrWatchClosed, closed},
	{lw.ErrSilent, silent},
	{lw.ErrResourceVersionTooLarge, "resourceVersion too large"},
	{lw.ErrTooManyRequests, "429 too many requests"},
	{lw.ErrNoInitialEnd, "no initial-events-end bookmark"},
	{syscall.ECONNRESET, broken},
	{syscall.EPIPE, broken},
	{io.ErrUnexpectedEOF, ended},
	{io.EOF, ended},
}

// causeOf returns the name of the cause of an interruption. If the injected faults cannot cause err, causeOf returns
// err itself. Examples are malformed data and status code 401.
func causeOf(err error) (string, error) {
	malformed, ok := errors.AsType[*lw.MalformedError](err)
	if ok && errors.Is(malformed, io.ErrUnexpectedEOF) {
		return cutShort, nil
	}
	_, undecodable := errors.AsType[*lw.DecodeError](err)
	_, tooLarge := errors.AsType[*lw.FrameTooLargeError](err)
	if ok || undecodable || tooLarge || errors.Is(err, lw.ErrVersionRegressed) {
		return "", err
	}
	for _, cause := range causes {
		if errors.Is(err, cause.target) {
			return cause.name, nil
		}
	}
	if status, ok := errors.AsType[*lw.StatusError](err); ok {
		if status.Code < 500 {
			return "", err
		}
		return strconv.Itoa(status.Code), nil
	}
	return "other connection error", nil
}
