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

// Status is the metav1.Status of the Kubernetes API, which describes an error.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
type Status struct {
	Status   string // "Failure" or "Success"
	Message  string // human-readable description
	Reason   string // machine-readable reason in CamelCase, for example "Expired", or ""
	Code     int    // HTTP status code
	Details  StatusDetails
	Continue string // metadata.continue: replacement for an expired continue token, with inconsistent results
}

// StatusDetails contains additional data about an error.
type StatusDetails struct {
	Name              string
	Group             string
	Kind              string
	Causes            []StatusCause
	RetryAfterSeconds int
}

// retryAfter returns RetryAfterSeconds as a duration. A negative value counts as zero.
func (d *StatusDetails) retryAfter() time.Duration {
	return time.Duration(max(d.RetryAfterSeconds, 0)) * time.Second
}

// StatusCause is one of several causes of an error.
type StatusCause struct {
	Reason  string
	Message string
	Field   string
}

// StatusError reports an error response of the server or an ERROR event in a watch. errors.Is matches it with the
// errors of this package, such as [ErrExpired].
type StatusError struct {
	Status
	RetryAfter time.Duration // delay that the server requests, or zero

	encoded []byte    // undecoded protobuf Status
	source  io.Reader // response body, for its Redact method
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

// sentinelOf returns the error for an HTTP status code, or nil.
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

// tooLarge recognizes three forms of the error. Since Kubernetes 1.18, servers send a cause with a reason. Older
// servers send a cause with only a message, or a message without a cause. No other function depends on the text of an
// error.
func (e *StatusError) tooLarge() bool {
	if e.Code != 504 && e.Reason != "Timeout" {
		return false
	}
	const text = "Too large resource version"
	for _, c := range e.Details.Causes {
		if c.Reason == "ResourceVersionTooLarge" || c.Message == text {
			return true
		}
	}
	return strings.Contains(e.Message, text)
}

// maxErrorBody limits the number of bytes that are read from an error response.
const maxErrorBody = 64 << 10

// magic starts every protobuf object outside a list. A runtime.Unknown follows it.
const magic = "k8s\x00"

// ReadStatusError returns the error for a response that was not successful. It parses body as a Status. If that fails,
// the first line of body becomes the message. retryAfter is the Retry-After header in seconds. A transport must convert
// a date.
//
// If body has a method Redact(text string) string, ReadStatusError passes each string through it before it truncates
// the string. ReadStatusError does not close body.
func ReadStatusError(code int, retryAfter string, body io.Reader) *StatusError {
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // the status code is known even if the body breaks off
	e := &StatusError{}
	if strings.HasPrefix(string(text), magic) {
		e.encoded, e.source = text, body
		return e.complete(code, retryAfter)
	}
	value, err := ParseValue(text)
	if err == nil {
		e.Status, err = statusOf(value, body)
	}
	if err != nil {
		e.Message = firstLine([]byte(redact.Body(body, string(text))))
	}
	return e.complete(code, retryAfter)
}

// complete adds the status code and the Retry-After header of the response.
func (e *StatusError) complete(code int, retryAfter string) *StatusError {
	e.Code = code
	e.RetryAfter = e.Details.retryAfter()
	if seconds, err := lean.ParseUint(retryAfter); err == nil && seconds > 0 && seconds <= math.MaxInt32 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// statusOf decodes a Status. It redacts all strings, because the server may repeat the credential of the request.
func statusOf(v Value, body io.Reader) (Status, error) {
	if v.Get("kind").String() != "Status" {
		return Status{}, &MalformedError{Expected: "a Status", Found: "another object"}
	}
	text := func(v Value, path string) string { return redact.Body(body, v.Get(path).String()) }
	details := v.Get("details")
	status := Status{
		Status:   text(v, "status"),
		Message:  text(v, "message"),
		Reason:   text(v, "reason"),
		Code:     int32Of(v.Get("code")),
		Continue: text(v, "metadata.continue"),
		Details: StatusDetails{
			Name:              text(details, "name"),
			Group:             text(details, "group"),
			Kind:              text(details, "kind"),
			RetryAfterSeconds: int32Of(details.Get("retryAfterSeconds")),
		},
	}
	for cause := range details.Get("causes").Elements() {
		status.Details.Causes = append(status.Details.Causes, StatusCause{
			Reason:  text(cause, "reason"),
			Message: text(cause, "message"),
			Field:   text(cause, "field"),
		})
	}
	return status, nil
}

// firstLine returns the first line of text, truncated for an error message.
func firstLine(text []byte) string {
	const most = 200
	for i, c := range text {
		if c < ' ' || i == most {
			return string(text[:i])
		}
	}
	return string(text)
}

// int32Of converts a number to the range of int32, like an integer field of the Kubernetes API.
func int32Of(v Value) int { return int(min(max(v.Int(), math.MinInt32), math.MaxInt32)) }
