package lw

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/lean"
)

// StatusError reports an error response of the server or an ERROR event in a watch. Its fields come from the
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

	encoded []byte    // the Status in protobuf, before openError decodes it
	source  io.Reader // response body, which may have a Redact method
}

// StatusCause is a metav1.StatusCause: one reason for an error, such as an invalid field.
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
	if e.Message != "" {
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
	return target != nil && target == sentinelOf(e.Code)
}

// sentinelOf returns the error variable for an HTTP status code, such as ErrNotFound for 404. It returns nil for other
// codes.
func sentinelOf(code int) error {
	switch code {
	case 401:
		return ErrUnauthorized
	case 403:
		return ErrForbidden
	case 404:
		return ErrNotFound
	case 429:
		return ErrTooManyRequests
	}
	return nil
}

// tooLarge reports whether the requested resourceVersion is too large. Since Kubernetes 1.18, servers send a cause with
// a reason. Older servers send a cause with only a message, or a message without a cause. No other function depends on
// the text of an error.
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

// maxErrorBody limits the number of bytes that are read from an error response.
const maxErrorBody = 64 << 10

// magic is the prefix of every protobuf object except list items. A runtime.Unknown message follows it.
const magic = "k8s\x00"

// ReadStatusError returns the error for a response that was not successful. It parses body as a Status. If that fails,
// the first line of body becomes the message. retryAfter is the value of the Retry-After header in seconds. If the
// header contains a date, the transport must convert it.
//
// If body has a method Redact(text string) string, ReadStatusError passes each string through Redact and then truncates
// it. ReadStatusError does not close body.
func ReadStatusError(code int, retryAfter string, body io.Reader) *StatusError {
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // if reading fails, the status code is still known
	e := &StatusError{}
	if strings.HasPrefix(string(text), magic) {
		e.encoded, e.source = text, body
	} else if value, err := ParseValue(text); err != nil || !e.parse(value, body) {
		e.Message = firstLine([]byte(redact.Body(body, string(text))))
	}
	e.Code = code
	if seconds, err := lean.ParseUint(retryAfter); err == nil && seconds > 0 && seconds <= math.MaxInt32 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// parse sets the fields of e from a JSON Status. It returns false if v is not a Status. It redacts all strings, because
// the server may repeat the credential of the request.
func (e *StatusError) parse(v Value, body io.Reader) bool {
	if v.Get("kind").String() != "Status" {
		return false
	}
	text := func(v Value, path string) string { return redact.Body(body, v.Get(path).String()) }
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

// firstLine returns the first line of text, truncated to fit into an error message.
func firstLine(text []byte) string {
	const most = 200
	for i, c := range text {
		if c < ' ' || i == most {
			return string(text[:i])
		}
	}
	return string(text)
}

// int32Of returns v, clamped to the range of an int32, the type of integers in the Kubernetes API.
func int32Of(v Value) int { return int(min(max(v.Int(), math.MinInt32), math.MaxInt32)) }
