package lw

import (
	"errors"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/invalid"
)

// Sentinels for errors.Is. A [StatusError] matches the one that its code and reason stand for.
var (
	// ErrExpired: the resource version, or the continue token, is too old; only a new list helps.
	ErrExpired = errors.New("the resource version is too old: a new list is needed")
	// ErrResourceVersionTooLarge: the server has not seen this resource version yet, or never will.
	ErrResourceVersionTooLarge = errors.New("the resource version is newer than the server's")
	// ErrUnauthorized: HTTP 401, the credential was not accepted.
	ErrUnauthorized = errors.New("the server did not accept the credential")
	// ErrForbidden: HTTP 403, the credential was accepted and may not do this.
	ErrForbidden = errors.New("the server forbids this")
	// ErrNotFound: HTTP 404, the server knows no such collection.
	ErrNotFound = errors.New("the server knows no such collection")
	// ErrTooManyRequests: HTTP 429.
	ErrTooManyRequests = errors.New("the server asks to slow down")

	// ErrInvalidResponse reports a response that breaks the protocol: not a list, pages that do not fit together, a streaming list
	// without its end, an ignored shard selector, or a resourceVersion that went back. The text says which. A *[MalformedError]
	// matches it too, unless the response was cut short.
	ErrInvalidResponse = invalid.ErrResponse
	// ErrSilent: nothing came for so long that the connection is taken for dead.
	ErrSilent = errors.New("nothing came for too long: the connection is taken for dead")
	// ErrWatchClosed is the cause of an interruption when the server ended a watch in good order, as every server does
	// after the watch's timeout.
	ErrWatchClosed = errors.New("the server closed the watch in good order")
)

// IsPermanent reports whether retrying cannot help, because the server answered 401, 403 or 404. It is made for
// [Options.StopOn]. It returns false for [ErrInvalidResponse], because a proxy may answer while the server is away.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)
}

// MalformedError says that what came over the wire is not what the protocol promises: not JSON, JSON cut short, or JSON
// of the wrong shape. It holds no part of the content beyond one byte or the event's type, so that it can be logged.
type MalformedError struct {
	Offset   int64  // in the response's body, in bytes; in the text, for [ParseObject] and [ParseValue]
	Expected string // what should have stood there
	Found    string // what stood there
	Err      error  // io.ErrUnexpectedEOF if the text was cut short; otherwise it may be nil
	html     bool   // an HTML page was found
}

func (e *MalformedError) Error() string {
	return "malformed response at byte " + strconv.FormatInt(e.Offset, 10) + ": expected " + e.Expected + ", found " + e.Found
}

// Unwrap returns Err, or [ErrInvalidResponse] if Err is nil.
func (e *MalformedError) Unwrap() error {
	if e.Err == nil {
		return ErrInvalidResponse
	}
	return e.Err
}

// FrameTooLargeError says that one event, or one item of a list, is larger than the limit.
type FrameTooLargeError struct {
	Offset int64 // in the response's body, where the frame begins, in bytes
	Limit  int   // in bytes
}

func (e *FrameTooLargeError) Error() string {
	return "the frame at byte " + strconv.FormatInt(e.Offset, 10) + " is larger than the limit of " +
		strconv.Itoa(e.Limit) + " bytes: raise ClientOptions.MaxFrame if this is expected"
}

// TooManyObjectsError says that a collection has more objects than [Options.MaxObjects].
type TooManyObjectsError struct {
	Limit int
}

func (e *TooManyObjectsError) Error() string {
	return "the collection has more than " + strconv.Itoa(e.Limit) + " objects: raise Options.MaxObjects if this is expected"
}

// DecodeError says that a codec could not decode an object that is well-formed.
type DecodeError struct {
	Type            EventType // what happened to the object: Added, Modified or Deleted; Added for an item of a list
	Key             Key
	ResourceVersion string
	Err             error
}

func (e *DecodeError) Error() string {
	return "object " + e.Key.String() + " at resource version " + e.ResourceVersion + ": " + e.Err.Error()
}

func (e *DecodeError) Unwrap() error { return e.Err }
