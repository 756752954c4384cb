package soak

import (
	"errors"
	"io"
	"strconv"
	"strings"
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

// noInitialEnd is part of the error for a streaming list that lacks the bookmark at its end.
const noInitialEnd = "initial-events-end bookmark"

// contradicted is part of the error for a watch that omits a known change. The client saw the change in a check before
// the watch. The watch then did not deliver the change within 5 seconds, for example because the connection stalled.
const contradicted = "contradict the earlier state"

// causes contains the errors that injected faults and server failures can cause, with their names. The first matching
// entry applies.
var causes = []struct {
	target error
	name   string
}{
	{lw.ErrExpired, expired},
	{lw.ErrWatchClosed, closed},
	{lw.ErrSilent, silent},
	{lw.ErrResourceVersionTooLarge, "resourceVersion too large"},
	{lw.ErrTooManyRequests, "429 too many requests"},
	{syscall.ECONNRESET, broken},
	{syscall.EPIPE, broken},
	{io.ErrUnexpectedEOF, ended},
	{io.EOF, ended},
}

// causeOf returns the name of the cause of an interruption. If the injected faults cannot cause err, causeOf returns
// err itself. Examples are malformed data and status code 401.
func causeOf(err error) (string, error) {
	// The JSON parser wraps this error, and a broken connection returns it as it is.
	if errors.Is(err, io.ErrUnexpectedEOF) && err != io.ErrUnexpectedEOF {
		return cutShort, nil
	}
	_, undecodable := errors.AsType[*lw.DecodeError](err)
	if errors.Is(err, lw.ErrInconsistent) && strings.Contains(err.Error(), noInitialEnd) {
		return noInitialEnd, nil
	}
	if errors.Is(err, lw.ErrInconsistent) && strings.Contains(err.Error(), contradicted) {
		return contradicted, nil
	}
	if undecodable || errors.Is(err, lw.ErrInvalidResponse) {
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
