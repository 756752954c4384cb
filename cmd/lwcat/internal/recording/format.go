// Package recording keeps what a transport brought in a file, and plays it again in place of a server. docs/recording.md has
// the format.
package recording

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// What a recording says of itself.
const (
	formatName    = "lwcat-recording"
	formatVersion = 1
)

// Header is the first line.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Lwcat   string    `json:"lwcat"` // the version that recorded
	Start   time.Time `json:"start"` // by the wall clock
}

// The kinds of entries, which are the lines behind the header.
const (
	kindFollow = "follow" // a collection is followed
	kindOpen   = "open"   // a request was made
	kindOpened = "opened" // it was answered, or failed
	kindFrame  = "frame"  // a part of the answer
	kindClosed = "closed" // its end
)

// entry is a line.
type entry struct {
	At     int64  `json:"at"` // nanoseconds since the start, by a clock that is never set
	Kind   string `json:"kind"`
	Stream int    `json:"stream,omitempty"` // the number of the request

	Collection *Collection `json:"collection,omitempty"` // of follow

	Path   string `json:"path,omitempty"` // of open
	Query  string `json:"query,omitempty"`
	Accept string `json:"accept,omitempty"`
	Watch  bool   `json:"watch,omitempty"`

	Transport string   `json:"transport,omitempty"` // of opened: what the answer came over
	Failure   *failure `json:"failure,omitempty"`   // of opened and closed; without, it went well

	Text   string `json:"text,omitempty"`   // of frame
	Base64 []byte `json:"base64,omitempty"` // in its place, if it is no UTF-8
	Part   bool   `json:"part,omitempty"`   // the event goes on in the next frame
}

// Collection is what a run has followed.
type Collection struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Plural    string `json:"plural,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Raw       string `json:"raw,omitempty"` // a path in place of all these
	Labels    string `json:"labelSelector,omitempty"`
	Fields    string `json:"fieldSelector,omitempty"`
	Shard     string `json:"shardSelector,omitempty"`
	From      string `json:"from,omitempty"` // the resource version that it began with, in place of a list
}

// Resource is the collection without its selectors.
func (c *Collection) Resource() lw.Resource {
	return lw.Resource{Group: c.Group, Version: c.Version, Plural: c.Plural, Namespace: c.Namespace, Name: c.Name, Raw: c.Raw}
}

// The kinds of failures, as far as they make a difference to the engine.
const (
	failedStatus   = "status"   // the server refused
	failedSilent   = "silent"   // nothing came for too long
	failedTooLarge = "tooLarge" // a frame above the limit
	failedCut      = "cut"      // the connection ended in the middle
	failedOther    = "other"    // as Text says
	failedReader   = "reader"   // whoever read has closed it
)

// failure says why a request, or its answer, ended.
type failure struct {
	Kind       string     `json:"kind"`
	Text       string     `json:"text,omitempty"`
	Limit      int        `json:"limit,omitempty"` // of tooLarge, in bytes
	Status     *lw.Status `json:"status,omitempty"`
	RetryAfter int64      `json:"retryAfter,omitempty"` // nanoseconds
}

// newFailure describes what a request, or its answer, ended with. Who ends a run closes what is under way; but a silence, for
// which the engine ends a request, is the server's.
func newFailure(ctx context.Context, err error) *failure {
	if err == nil || err == io.EOF {
		return nil
	}
	if ctx.Err() != nil && context.Cause(ctx) != lw.ErrSilent {
		return &failure{Kind: failedReader}
	}
	f := &failure{Kind: failedOther, Text: err.Error()}
	if status, ok := errors.AsType[*lw.StatusError](err); ok {
		return &failure{Kind: failedStatus, Status: &status.Status, RetryAfter: int64(status.RetryAfter)}
	}
	if large, ok := errors.AsType[*lw.FrameTooLargeError](err); ok {
		f.Kind, f.Limit = failedTooLarge, large.Limit
	}
	switch {
	case errors.Is(err, lw.ErrSilent):
		f.Kind = failedSilent
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Kind = failedCut
	}
	return f
}

// toError is the failure as the engine met it. ended is what the reader's own end stands for.
func (f *failure) toError(ended error) error {
	switch {
	case f == nil:
		return nil
	case f.Kind == failedStatus && f.Status != nil:
		return &lw.StatusError{Status: *f.Status, RetryAfter: time.Duration(f.RetryAfter)}
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

// replayedError is an error of the recorded run, in its words.
type replayedError struct {
	text string
	is   error
}

func (e *replayedError) Error() string { return e.text }
func (e *replayedError) Unwrap() error { return e.is }
