package soak

import (
	"errors"
	"io"
	"strconv"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// The causes of interruptions that must occur in every run.
const (
	expired  = "410 expired"
	closed   = "closed in good order"
	silent   = "silent"
	cutShort = "JSON cut short"
	broken   = "connection reset"
	ended    = "connection ended"
)

// causes give each cause a name; the first that matches counts.
var causes = []struct {
	target error
	name   string
}{
	{lw.ErrExpired, expired},
	{lw.ErrWatchClosed, closed},
	{lw.ErrSilent, silent},
	{lw.ErrResourceVersionTooLarge, "version too large"},
	{lw.ErrTooManyRequests, "429 too many requests"},
	{invalid.ErrNoInitialEnd, "streaming list without its end"},
	{syscall.ECONNRESET, broken},
	{syscall.EPIPE, broken},
	{io.ErrUnexpectedEOF, ended},
	{io.EOF, ended},
}

// causeOf names the cause of an interruption. It fails for what nothing here can have caused: no fault changes bytes, the
// credential is good, the collection exists, and nobody restores a backup.
func causeOf(err error) (string, error) {
	malformed, ok := errors.AsType[*lw.MalformedError](err)
	if ok && malformed.Err == io.ErrUnexpectedEOF {
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
	return "connection broken otherwise", nil
}
