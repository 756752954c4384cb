package soak

import (
	"errors"
	"io"
	"strconv"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Names of the causes that must occur in every run.
const (
	expired  = "410 expired"
	closed   = "closed cleanly"
	silent   = "idle timeout"
	cutShort = "truncated JSON"
	broken   = "connection reset"
	ended    = "connection ended"
)

// causes assigns names to errors. If several entries match, the first applies.
var causes = []struct {
	target error
	name   string
}{
	{lw.ErrExpired, expired},
	{lw.ErrWatchClosed, closed},
	{lw.ErrSilent, silent},
	{lw.ErrResourceVersionTooLarge, "resourceVersion too large"},
	{lw.ErrTooManyRequests, "429 too many requests"},
	{invalid.ErrNoInitialEnd, "streaming list without its end"},
	{syscall.ECONNRESET, broken},
	{syscall.EPIPE, broken},
	{io.ErrUnexpectedEOF, ended},
	{io.EOF, ended},
}

// causeOf returns the name of the cause of an interruption. For an error that the injected faults cannot cause, such as
// malformed data or a 401, it returns that error.
func causeOf(err error) (string, error) {
	malformed, ok := errors.AsType[*lw.MalformedError](err)
	if ok && errors.Is(malformed, io.ErrUnexpectedEOF) {
		return cutShort, nil
	}
	_, undecodable := errors.AsType[*lw.DecodeError](err)
	_, tooLarge := errors.AsType[*lw.FrameTooLargeError](err)
	if ok || undecodable || tooLarge || errors.Is(err, invalid.ErrVersionRegressed) {
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
