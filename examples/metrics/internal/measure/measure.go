// Package measure holds what the metrics of every system have in common: how errors and requests become labels of few
// values, and where the boundaries of histograms lie.
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

// The boundaries of the histograms' buckets. Each says what the library's own limits are, so that the last bucket but one
// holds what is still in order.
var (
	// OpenSeconds: a response that takes longer than 90 s is given up as silent.
	OpenSeconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90}
	// DelaySeconds: none where the cause has a remedy, else 0.8 s to 60 s; beyond that the server asked for it.
	DelaySeconds = []float64{0, 1, 2, 4, 8, 16, 32, 64}
	// FrameBytes: etcd takes objects of up to 1.5 MiB.
	FrameBytes = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
)

// Verb says what a request is: "list" or "watch". A streaming list is a watch.
func Verb(req *lw.Request) string {
	if req.Watch {
		return "watch"
	}
	return "list"
}

// causes are looked through in order: what is more telling stands first, as an error may match several.
var causes = []struct {
	name string
	is   func(error) bool
}{
	{"closed", is(lw.ErrWatchClosed)},
	{"expired", is(lw.ErrExpired)},
	{"too_large", is(lw.ErrResourceVersionTooLarge)},
	{"silent", is(lw.ErrSilent)},
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
	{"invalid_response", is(lw.ErrInvalidResponse)},
	{"canceled", func(err error) bool { // a deadline of the caller's is also a net.Error
		return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}},
	{"tls", func(err error) bool {
		return as[*tls.CertificateVerificationError](err) || as[tls.AlertError](err) || as[tls.RecordHeaderError](err)
	}},
	{"connection", func(err error) bool {
		return as[net.Error](err) || as[syscall.Errno](err) || errors.Is(err, net.ErrClosed) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}},
	{"unsupported", is(errors.ErrUnsupported)}, // as WebSocket by a proxy; some of the system's errors match it, too
}

// Cause names the kind of an error, in one of eighteen words, whatever the error's text. "other" is what has no type that
// can be told, among it a few ends of HTTP/2 streams.
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
