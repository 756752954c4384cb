// Package measure contains the common parts of the metrics adapters: the mapping of errors and requests to labels, and
// the buckets of histograms.
package measure

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Upper limits of histogram buckets. They follow the limits of the library.
var (
	// OpenSeconds ends at 90 s, the timeout for a response.
	OpenSeconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90}
	// DelaySeconds covers the engine's delays of 0 s and of 0.8 s to 60 s. Only a Retry-After can be longer.
	DelaySeconds = []float64{0, 1, 2, 4, 8, 16, 32, 64}
	// FrameBytes exceeds the object size limit of etcd, which is 1.5 MiB.
	FrameBytes = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
)

// Verb returns the verb of a request: "list" or "watch". A streaming list is a watch.
func Verb(req *lw.Request) string {
	if req.Watch {
		return "watch"
	}
	return "list"
}

// causes lists the kinds of errors. An error may match several, so more specific kinds come first.
var causes = []struct {
	name string
	is   func(error) bool
}{
	{"closed", is(lw.ErrWatchClosed)},
	{"expired", is(lw.ErrExpired)},
	{"too_large", is(lw.ErrResourceVersionTooLarge)},
	{"regressed", is(lw.ErrVersionRegressed)},
	{"silent", is(lw.ErrSilent)},
	{"no_initial_end", is(lw.ErrNoInitialEnd)},
	{"shard_ignored", is(lw.ErrShardIgnored)},
	{"unauthorized", is(lw.ErrUnauthorized)},
	{"forbidden", is(lw.ErrForbidden)},
	{"not_found", is(lw.ErrNotFound)},
	{"too_many_requests", is(lw.ErrTooManyRequests)},
	{"server_error", func(err error) bool {
		status, ok := errors.AsType[*lw.StatusError](err)
		return ok && status.Code >= 500
	}},
	{"refused", as[*lw.StatusError]},
	{"frame_too_large", as[*lw.FrameTooLargeError]},
	{"undecodable", as[*lw.DecodeError]},
	{"malformed", func(err error) bool { // truncated JSON counts as a connection failure
		malformed, ok := errors.AsType[*lw.MalformedError](err)
		return ok && malformed.Err == nil
	}},
	{"canceled", func(err error) bool { // the caller's deadline is also a net.Error
		return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}},
	{"tls", func(err error) bool {
		return as[*tls.CertificateVerificationError](err) || as[tls.AlertError](err) || as[tls.RecordHeaderError](err)
	}},
	{"connection", func(err error) bool {
		return as[net.Error](err) || as[syscall.Errno](err) || errors.Is(err, net.ErrClosed) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}},
	{"unsupported", is(errors.ErrUnsupported)}, // for example, a proxy without WebSocket support; some system errors match, too
}

// Cause returns the kind of an error as one of 21 words. It does not depend on the error's text. Errors without a known
// type, such as some ends of HTTP/2 streams, return "other".
func Cause(err error) string {
	for _, cause := range causes {
		if cause.is(err) {
			return cause.name
		}
	}
	return "other"
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
