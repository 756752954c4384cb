package lw

import (
	"errors"
	"strconv"
)

// The following errors are for use with errors.Is. A [StatusError] matches the error for its code and reason.
var (
	// ErrExpired means that the resourceVersion or the continue token is too old. Only a relist helps.
	ErrExpired = errors.New("the resourceVersion or continue token has expired: relist")
	// ErrResourceVersionTooLarge means that the server has not reached the requested resourceVersion.
	ErrResourceVersionTooLarge = errors.New("the resourceVersion is newer than the server's")
	// ErrUnauthorized means that the server did not accept the credential (HTTP 401).
	ErrUnauthorized = errors.New("the server did not accept the credential")
	// ErrForbidden means that the credential is valid but does not permit the request (HTTP 403).
	ErrForbidden = errors.New("the server denied access")
	// ErrNotFound means that the collection does not exist on the server (HTTP 404).
	ErrNotFound = errors.New("the server has no such collection")
	// ErrTooManyRequests means that the server is rate limiting requests (HTTP 429).
	ErrTooManyRequests = errors.New("too many requests")

	// ErrTooManyObjects means that the collection has more objects than [Options.MaxObjects].
	ErrTooManyObjects = errors.New("the collection has too many objects")

	// ErrInvalidResponse means that a response breaks the protocol. The errors below name the violation. A
	// *[MalformedError] also matches it, unless the response was truncated.
	ErrInvalidResponse = errors.New("the response is not valid")
	// ErrSilent means that no data arrived within the idle timeout. The connection is probably half-open.
	ErrSilent = errors.New("no data arrived within the idle timeout: the connection may be half-open")
	// ErrWatchClosed means that the server closed the watch cleanly. Every server does this after the watch timeout.
	ErrWatchClosed = errors.New("the server closed the watch cleanly")
)

// The following errors match [ErrInvalidResponse].
var (
	// ErrVersionRegressed means that the resourceVersion of the collection decreased, for example after a backup was
	// restored.
	ErrVersionRegressed error = &violation{"the collection's resourceVersion decreased: was a backup restored?"}
	// ErrReplaced means that the objects on the server contradict the state that the stream has reached, for example
	// because the cluster was rebuilt at the same address.
	ErrReplaced error = &violation{"the server's objects contradict the earlier state of the collection: was the cluster rebuilt?"}
	// ErrNoInitialEnd means that the initial-events-end bookmark of a streaming list is missing or misplaced.
	ErrNoInitialEnd error = &violation{"the initial-events-end bookmark of the streaming list is missing or misplaced"}
	// ErrNotList means that the response is not a list of this resource, for example an HTML page or a single object. It
	// is wrapped in a *[MalformedError].
	ErrNotList error = &violation{"the response is not a list"}
	// ErrNoProgress means that a paginated list repeats its first object or a continue token, or has too many empty
	// pages in a row.
	ErrNoProgress error = &violation{"the list's pagination makes no progress"}
	// ErrInconsistentPages means that the pages of a list have different resourceVersions.
	ErrInconsistentPages error = &violation{"the pages of the list have different resourceVersions"}
	// ErrShardIgnored means that a list contains the whole collection instead of the requested shard.
	ErrShardIgnored error = &violation{"the server ignored the shard selector: sharding needs Kubernetes 1.36 and the feature gate ShardedListAndWatch"}
)

// violation is a cause of ErrInvalidResponse.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

func (*violation) Unwrap() error { return ErrInvalidResponse }

// IsPermanent reports whether retrying cannot help, because the server returned 401, 403 or 404. Use it as
// [Options.StopOn]. It returns false for [ErrInvalidResponse], which may come from a proxy while the server is down.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)
}

// MalformedError reports a response that is not valid: it is not JSON, it is truncated, or it has an unexpected
// structure. It is safe to log, because it quotes at most one byte, an event type or a kind from the response.
// errors.Is matches it with [ErrInvalidResponse], or with io.ErrUnexpectedEOF if the text is truncated.
type MalformedError struct {
	Offset int64 // byte offset in the response body, or in the text that was parsed

	expected string // expected syntax or value
	found    string // syntax or value at Offset
	err      error  // io.ErrUnexpectedEOF if the text is truncated, an error that matches ErrInvalidResponse, or nil
	html     bool   // whether the text at Offset is the start of an HTML page
}

func (e *MalformedError) Error() string {
	return "malformed response at byte " + strconv.FormatInt(e.Offset, 10) + ": expected " + e.expected + ", found " + e.found
}

// Unwrap returns io.ErrUnexpectedEOF if the text is truncated, or an error that matches [ErrInvalidResponse].
func (e *MalformedError) Unwrap() error {
	if e.err == nil {
		return ErrInvalidResponse
	}
	return e.err
}

// FrameTooLargeError reports an event or a list item that exceeds the size limit.
type FrameTooLargeError struct {
	Offset int64 // byte offset of the event or item in the response body
	Limit  int   // size limit of an event or item, in bytes
}

func (e *FrameTooLargeError) Error() string {
	return "the frame at byte " + strconv.FormatInt(e.Offset, 10) + " is larger than the limit of " +
		strconv.Itoa(e.Limit) + " bytes: raise ClientOptions.MaxFrame if this is expected"
}

// DecodeError reports a well-formed object that the codec could not decode.
type DecodeError struct {
	Type            EventType // Added, Modified or Deleted (Added for a list item)
	Key             Key
	ResourceVersion string
	Err             error
}

func (e *DecodeError) Error() string {
	return "object " + e.Key.String() + " at resourceVersion " + e.ResourceVersion + ": " + e.Err.Error()
}

func (e *DecodeError) Unwrap() error { return e.Err }
