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
	formatVersion = 1
)

// Header is the first line of a recording.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Lwcat   string    `json:"lwcat"` // version of lwcat that wrote the recording
	Start   time.Time `json:"start"` // wall clock time
}

// These constants are the kinds of entries after the header.
const (
	kindFollow = "follow" // a collection is followed
	kindOpen   = "open"   // a request is sent
	kindOpened = "opened" // the request is answered or fails
	kindFrame  = "frame"  // a part of the response arrives
	kindClosed = "closed" // the response ends
)

// entry is one line after the header.
type entry struct {
	At     int64  `json:"at"` // nanoseconds since the start, by a monotonic clock
	Kind   string `json:"kind"`
	Stream int    `json:"stream,omitempty"` // number of the request

	Collection *Collection `json:"collection,omitempty"` // in a follow entry

	Path   string `json:"path,omitempty"` // in an open entry
	Query  string `json:"query,omitempty"`
	Accept string `json:"accept,omitempty"`
	Watch  bool   `json:"watch,omitempty"`

	Failure *failure `json:"failure,omitempty"` // in opened and closed entries; nil means success

	Text   string `json:"text,omitempty"`   // in a frame entry
	Base64 []byte `json:"base64,omitempty"` // instead of Text, if the frame is not valid UTF-8
	Part   bool   `json:"part,omitempty"`   // the event continues in the next frame
}

// Collection is a followed collection.
type Collection struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Plural    string `json:"plural,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Raw       string `json:"raw,omitempty"` // a path instead of the fields above
	Labels    string `json:"labelSelector,omitempty"`
	Fields    string `json:"fieldSelector,omitempty"`
	From      string `json:"from,omitempty"` // resourceVersion at which the run started instead of with a list
}

// Resource returns the collection without its selectors.
func (c *Collection) Resource() lw.Resource {
	return lw.Resource{Group: c.Group, Version: c.Version, Plural: c.Plural, Namespace: c.Namespace, Name: c.Name, Raw: c.Raw}
}

// These constants are the kinds of failures that the engine distinguishes.
const (
	failedStatus   = "status"   // an error response
	failedSilent   = "silent"   // an idle timeout
	failedTooLarge = "tooLarge" // an event above the size limit
	failedCut      = "cut"      // the connection ended within the response
	failedOther    = "other"    // another error, described by Text
	failedReader   = "reader"   // closed by the recorded run
)

// failure is the reason why a request or its response ended.
type failure struct {
	Kind       string  `json:"kind"`
	Text       string  `json:"text,omitempty"`
	Limit      int     `json:"limit,omitempty"` // bytes, for tooLarge
	Status     *status `json:"status,omitempty"`
	RetryAfter int64   `json:"retryAfter,omitempty"` // nanoseconds
}

// status is the part of an lw.StatusError that the server sent as a Status.
type status struct {
	Message, Reason string
	Code            int
	Details         struct {
		Name, Group, Kind string
		Causes            []lw.StatusCause
	}
}

// newStatus returns the Status of an error response.
func newStatus(e *lw.StatusError) *status {
	s := &status{Message: e.Message, Reason: e.Reason, Code: e.Code}
	s.Details.Name, s.Details.Group, s.Details.Kind, s.Details.Causes = e.Name, e.Group, e.Kind, e.Causes
	return s
}

// toError returns the error of an error response.
func (s *status) toError(retryAfter time.Duration) error {
	d := &s.Details
	return &lw.StatusError{
		Code: s.Code, Reason: s.Reason, Message: s.Message,
		Name: d.Name, Group: d.Group, Kind: d.Kind, Causes: d.Causes, RetryAfter: retryAfter,
	}
}

// newFailure describes the error that ended a request or its response. After the context is done, the failure counts as
// closed by the run, except after an idle timeout.
func newFailure(ctx context.Context, err error) *failure {
	if err == nil || err == io.EOF {
		return nil
	}
	if ctx.Err() != nil && context.Cause(ctx) != lw.ErrSilent {
		return &failure{Kind: failedReader}
	}
	f := &failure{Kind: failedOther, Text: err.Error()}
	if rejected, ok := errors.AsType[*lw.StatusError](err); ok {
		return &failure{Kind: failedStatus, Status: newStatus(rejected), RetryAfter: int64(rejected.RetryAfter)}
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

// toError returns the error that the engine received. It returns ended for requests that the recorded run closed.
func (f *failure) toError(ended error) error {
	switch {
	case f == nil:
		return nil
	case f.Kind == failedStatus && f.Status != nil:
		return f.Status.toError(time.Duration(f.RetryAfter))
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
