// Package recording records the responses of a transport in a file and replays them instead of a server.
// docs/recording.md describes the format.
package recording

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// These constants are the name and the version of the format.
const (
	formatName    = "lwcat-recording"
	formatVersion = 2
)

// Header is the first line of a recording.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Start   time.Time `json:"start"` // wall clock time
}

// These constants are the kinds of entries after the header.
const (
	kindFollow = "follow" // a collection is followed
	kindOpen   = "open"   // a request is sent
	kindOpened = "opened" // the request is answered or fails
	kindData   = "data"   // a part of the response arrives
	kindClosed = "closed" // the response ends
)

// entry is one line after the header. Entries are sorted by time.
type entry struct {
	At     int64  `json:"at"` // nanoseconds since the start, measured with a monotonic clock
	Kind   string `json:"kind"`
	Stream int    `json:"stream,omitempty"` // number of the request

	Collection *Collection `json:"collection,omitempty"` // set in follow entries

	Path  string `json:"path,omitempty"` // set in open entries
	Query string `json:"query,omitempty"`
	Watch bool   `json:"watch,omitempty"`

	Failure *failure `json:"failure,omitempty"` // set in opened and closed entries; nil means success

	Text   string `json:"text,omitempty"`   // set in data entries
	Base64 []byte `json:"base64,omitempty"` // replaces Text if the data is not valid UTF-8
}

// Collection identifies a collection that the recorded run followed.
type Collection struct {
	Resource lw.Resource `json:"resource"`
	Labels   string      `json:"labelSelector,omitempty"`
	Fields   string      `json:"fieldSelector,omitempty"`
	From     string      `json:"from,omitempty"` // resourceVersion from which the run resumed; empty if it started with a list
}

// These constants are the kinds of failures that the engine distinguishes.
const (
	failedSilent   = "silent"   // an idle timeout
	failedTooLarge = "tooLarge" // an event above the size limit
	failedCut      = "cut"      // the connection ended in the middle of the response
	failedReader   = "reader"   // the recorded run closed the response
)

// failure is the reason why a request or its response ended.
type failure struct {
	Kind   string          `json:"kind,omitempty"` // empty for error responses and unclassified errors
	Text   string          `json:"text,omitempty"`
	Limit  int             `json:"limit,omitempty"`  // size limit in bytes, set for tooLarge
	Status *lw.StatusError `json:"status,omitempty"` // set for an error response
}

// newFailure describes the error that ended a request or its response. It returns nil if the response is complete. The
// kind is failedReader if ctx is done, unless the cause is an idle timeout.
func newFailure(ctx context.Context, err error) *failure {
	if err == nil || err == io.EOF {
		return nil
	}
	if ctx.Err() != nil && context.Cause(ctx) != lw.ErrSilent {
		return &failure{Kind: failedReader}
	}
	f := &failure{Text: err.Error()}
	f.Status, _ = errors.AsType[*lw.StatusError](err)
	if large, ok := errors.AsType[*lw.FrameTooLargeError](err); ok {
		f.Kind, f.Limit = failedTooLarge, large.Limit
	} else if errors.Is(err, lw.ErrSilent) {
		f.Kind = failedSilent
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		f.Kind = failedCut
	}
	return f
}

// toError returns the error that the engine received. If the recorded run closed the response, it returns the argument
// ended.
func (f *failure) toError(ended error) error {
	switch {
	case f.Status != nil:
		return f.Status
	case f.Kind == failedTooLarge:
		return &lw.FrameTooLargeError{Limit: f.Limit}
	case f.Kind == failedSilent:
		return lw.ErrSilent
	case f.Kind == failedReader:
		return ended
	case f.Kind == failedCut:
		return &replayedError{f.Text, io.ErrUnexpectedEOF}
	}
	return &replayedError{f.Text, nil}
}

// replayedError is an error of the recorded run with its original text.
type replayedError struct {
	text string
	is   error
}

func (e *replayedError) Error() string { return e.text }
func (e *replayedError) Unwrap() error { return e.is }
