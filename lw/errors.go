package lw

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// The following errors are for use with errors.Is. A [StatusError] matches the error for its code and reason.
var (
	// ErrExpired means that the resourceVersion or the continue token is too old, so the client must relist.
	ErrExpired = errors.New("the resourceVersion or continue token has expired: relist")
	// ErrResourceVersionTooLarge means that the server has not reached the requested resourceVersion.
	ErrResourceVersionTooLarge = errors.New("the resourceVersion is newer than the server's")
	// ErrUnauthorized means that the server did not accept the credential (HTTP 401).
	ErrUnauthorized = errors.New("the server did not accept the credential")
	// ErrForbidden means that the credential is valid but does not permit the request (HTTP 403).
	ErrForbidden = errors.New("the server denied access")
	// ErrNotFound means that the collection does not exist on the server (HTTP 404).
	ErrNotFound = errors.New("the server has no such collection")
	// ErrNotModified means that the resource still has the ETag of the request (HTTP 304). See [Request].IfNoneMatch.
	ErrNotModified = errors.New("not modified")
	// ErrTooManyRequests means that the server is rate limiting requests (HTTP 429).
	ErrTooManyRequests = errors.New("too many requests")

	// ErrTooManyObjects means that the collection has more objects than the cache.Informer permits; see its method
	// LimitObjects.
	ErrTooManyObjects = errors.New("the collection has too many objects")

	// ErrInvalidResponse means that a response breaks the protocol: it is not valid JSON, or it has an unexpected
	// structure. The errors below name some violations. A truncated response matches io.ErrUnexpectedEOF instead.
	ErrInvalidResponse = jsonscan.ErrInvalid
	// ErrSilent means that no data arrived within the idle timeout. The connection is probably half-open.
	ErrSilent = errors.New("no data arrived within the idle timeout: the connection may be half-open")
	// ErrWatchClosed means that the server closed the watch cleanly. Every server does this after the watch timeout.
	ErrWatchClosed = errors.New("the server closed the watch cleanly")
)

// The following errors match [ErrInvalidResponse].
var (
	// ErrNotList means that the response is not a list of this resource, for example an HTML page or a single object.
	ErrNotList error = &jsonscan.Violation{Text: "the response is not a list", Of: ErrInvalidResponse}
	// ErrTooLarge means that an event, a list item or a message exceeds its size limit. See [ClientOptions].MaxFrame.
	ErrTooLarge error = jsonscan.ErrTooLarge
	// ErrInconsistent means that responses contradict each other or the state that the stream has reached, for example
	// because a backup was restored or the cluster was rebuilt at the same address. The error text names the
	// contradiction. Stored objects may differ from those on the server until the next list is complete.
	ErrInconsistent error = &jsonscan.Violation{Text: "the server's responses contradict each other", Of: ErrInvalidResponse}

	// errEventType means that a custom ListerWatcher yielded an event without a type, or with a type that only a stream
	// yields.
	errEventType error = &jsonscan.Violation{Text: "the source yielded an event of an invalid type", Of: ErrInvalidResponse}
)

// The following errors match ErrInconsistent.
var (
	errVersionRegressed error = &jsonscan.Violation{Text: "the collection's resourceVersion decreased: was a backup restored?", Of: ErrInconsistent}
	errReplaced         error = &jsonscan.Violation{Text: "the server's objects contradict the earlier state of the collection: was the cluster rebuilt?", Of: ErrInconsistent}
	errNoInitialEnd     error = &jsonscan.Violation{Text: "the initial-events-end bookmark of the streaming list is missing or misplaced", Of: ErrInconsistent}
	// errNoProgress means that a paginated list would never end, because it repeats an object or a continue token, or
	// has too many empty pages in a row.
	errNoProgress        error = &jsonscan.Violation{Text: "the list's pagination makes no progress", Of: ErrInconsistent}
	errInconsistentPages error = &jsonscan.Violation{Text: "the pages of the list have different resourceVersions", Of: ErrInconsistent}
)

// IsPermanent reports whether retrying cannot help, because the server returned 401, 403 or 404. Use it as
// [Options.StopOn]. It returns false for [ErrInvalidResponse], which may come from a proxy while the server is down.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound)
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

// StatusError reports an error response from the server, or an ERROR event in a watch. Its fields come from the
// server's metav1.Status. errors.Is matches it with the errors of this package, such as [ErrExpired].
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
type StatusError struct {
	Code       int           // HTTP status code
	Reason     string        // machine-readable reason in CamelCase, for example "Expired" (may be empty)
	Message    string        // human-readable description
	Name       string        // name of the object (may be empty)
	Group      string        // API group of the object or of the resource (may be empty)
	Kind       string        // kind of the object or plural name of the resource (may be empty)
	Causes     []StatusCause // reasons for the error, for example one for each invalid field
	RetryAfter time.Duration // delay that the server requests (zero if none)
}

// StatusCause is one of the reasons for an error, such as an invalid field. It corresponds to metav1.StatusCause.
type StatusCause struct {
	Reason  string
	Message string
	Field   string
}

func (e *StatusError) Error() string {
	text := "the server answered " + strconv.Itoa(e.Code)
	if e.Reason != "" {
		text += " " + e.Reason
	}
	if e.Message != "" && e.Message[0] != '<' { // the first line of an HTML page says nothing about the error
		text += ": " + e.Message
	}
	return text
}

// Is reports whether e matches target, an error of this package such as [ErrExpired].
func (e *StatusError) Is(target error) bool {
	switch target {
	case ErrExpired:
		return e.Code == 410 || e.Reason == "Expired" || e.Reason == "Gone"
	case ErrResourceVersionTooLarge:
		return e.tooLarge()
	}
	return target != nil && target == codeErrors[e.Code]
}

// codeErrors contains the error for each HTTP status code that has one.
var codeErrors = map[int]error{
	304: ErrNotModified, 401: ErrUnauthorized, 403: ErrForbidden, 404: ErrNotFound, 429: ErrTooManyRequests,
}

// tooLarge reports whether the requested resourceVersion is too large. Since Kubernetes 1.18, servers send a cause with
// a reason. Older servers send only a text, so this is the only function that depends on the text of an error.
func (e *StatusError) tooLarge() bool {
	if e.Code != 504 && e.Reason != "Timeout" {
		return false
	}
	const text = "Too large resource version"
	for _, c := range e.Causes {
		if c.Reason == "ResourceVersionTooLarge" || c.Message == text {
			return true
		}
	}
	return strings.Contains(e.Message, text)
}

// maxErrorBody limits the number of bytes that are read from an error response. A Status is much smaller, but a hostile
// server could send an endless body.
const maxErrorBody = 64 << 10

// ReadStatusError returns the error for a response that was not successful. It parses body as a Status in JSON or
// protobuf. If that fails, the first line of body, up to 200 bytes, becomes the message. retryAfter is the value of the
// Retry-After header in seconds. If the header contains a date, the transport must convert it.
//
// ReadStatusError passes each string through redact, which may be nil; see [Response].Redact. It does not close body.
func ReadStatusError(code int, retryAfter string, body io.Reader, redact func(text string) string) *StatusError {
	// A read error does not matter, because the status code is known.
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	e := &StatusError{}
	if strings.HasPrefix(string(text), magic) {
		if kind, status, ok := envelope(text); ok && string(kind) == "Status" {
			e.unmarshal(status, redact)
		}
	} else if value, err := ParseValue(text); err != nil || !e.parse(value, redact) {
		e.Message = firstLine(strings.TrimSpace(redaction(redact).text(string(text))))
	}
	e.Code = code
	if seconds, err := strconv.ParseUint(retryAfter, 10, 64); err == nil && seconds > 0 && seconds <= math.MaxInt32 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// parse sets the fields of e from a JSON Status. It returns false if v is not a Status. It redacts all strings, because
// the server may repeat the request's credential in them.
func (e *StatusError) parse(v Value, redact redaction) bool {
	if v.Get("kind").String() != "Status" {
		return false
	}
	text := func(v Value, path string) string { return redact.text(v.Get(path).String()) }
	details := v.Get("details")
	e.Code = int32Of(v.Get("code"))
	e.Reason = text(v, "reason")
	e.Message = text(v, "message")
	e.Name = text(details, "name")
	e.Group = text(details, "group")
	e.Kind = text(details, "kind")
	e.RetryAfter = seconds(int32Of(details.Get("retryAfterSeconds")))
	for cause := range details.Get("causes").Elements() {
		e.Causes = append(e.Causes, StatusCause{
			Reason:  text(cause, "reason"),
			Message: text(cause, "message"),
			Field:   text(cause, "field"),
		})
	}
	return true
}

// seconds converts a number of seconds to a time.Duration. A negative number counts as zero.
func seconds(n int) time.Duration { return time.Duration(max(n, 0)) * time.Second }

// firstLine returns the first line of text, up to 200 bytes, so that a page does not fill the log.
func firstLine(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return r < ' ' }); end >= 0 {
		text = text[:end]
	}
	return strings.ToValidUTF8(text[:min(len(text), 200)], "") // without a part of a character at the end
}

// int32Of returns v, clamped to the range of an int32, which is the type of all integers in a Status.
func int32Of(v Value) int { return int(min(max(v.Int(), math.MinInt32), math.MaxInt32)) }
