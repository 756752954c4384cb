package lw

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw/internal/lean"
)

// Status is Kubernetes' metav1.Status, the body of an error: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
type Status struct {
	Status   string // "Failure" or "Success"
	Message  string // for people
	Reason   string // for programs, in CamelCase, as "Expired"; may be empty
	Code     int    // the HTTP status code
	Details  StatusDetails
	Continue string // metadata.continue: with an expired continue token, a new one that continues inconsistently
}

// StatusDetails is the part of a Status that depends on its reason.
type StatusDetails struct {
	Name              string
	Group             string
	Kind              string
	Causes            []StatusCause
	RetryAfterSeconds int
}

// retryAfter is what a server may ask to wait: no time that has passed, and none that does not fit.
func (d *StatusDetails) retryAfter() time.Duration {
	return time.Duration(max(d.RetryAfterSeconds, 0)) * time.Second
}

// StatusCause is one cause among several.
type StatusCause struct {
	Reason  string
	Message string
	Field   string
}

// StatusError says that the server answered, and what it answered: with an HTTP status that is no success, or with an
// ERROR event in a watch. It matches the sentinels of this package by errors.Is.
type StatusError struct {
	Status
	RetryAfter time.Duration // how long the server asks to wait, from the Retry-After header or the Status; zero: it does not say

	encoded []byte    // a protobuf Status that the client decodes
	source  io.Reader // the response of encoded, for Redact
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

// Is makes errors.Is match the package's sentinels.
func (e *StatusError) Is(target error) bool {
	switch target {
	case ErrExpired:
		return e.Code == 410 || e.Reason == "Expired" || e.Reason == "Gone"
	case ErrResourceVersionTooLarge:
		return e.tooLarge()
	}
	return target != nil && target == sentinelOf(e.Code)
}

// sentinelOf returns the error that an HTTP status code alone stands for; nil if there is none.
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

// tooLarge knows the three forms: the cause that servers give since 1.18, and the messages of older ones, which gave the
// cause without its reason, or no cause at all. This is the only place where the text of an error is read.
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

// maxErrorBody is how much of an error response's body is read, in bytes.
const maxErrorBody = 64 << 10

// magic begins every protobuf object outside of a list. A runtime.Unknown follows.
const magic = "k8s\x00"

// ReadStatusError returns the error of a response with a status code that is not a success. It parses a Status, and takes the
// first line of any other body as the message. retryAfter is the Retry-After header, in seconds; a transport converts a date.
// It calls [Redact] for every text before it truncates one. It does not close body.
func ReadStatusError(code int, retryAfter string, body io.Reader) *StatusError {
	text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // the status code counts even if the body breaks off
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
		e.Message = firstLine([]byte(Redact(body, string(text))))
	}
	return e.complete(code, retryAfter)
}

// complete adds what the response's header says.
func (e *StatusError) complete(code int, retryAfter string) *StatusError {
	e.Code = code
	e.RetryAfter = e.Details.retryAfter()
	if seconds, err := lean.ParseUint(retryAfter); err == nil && seconds > 0 && seconds <= math.MaxInt32 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// ParseStatus reads a Status from JSON. Anything else is a *[MalformedError].
func ParseStatus(text []byte) (Status, error) {
	value, err := ParseValue(text)
	if err != nil {
		return Status{}, err
	}
	return statusOf(value, nil)
}

// statusOf redacts every text, because the server may repeat the credential that body was requested with.
func statusOf(v Value, body io.Reader) (Status, error) {
	if v.Get("kind").String() != "Status" {
		return Status{}, &MalformedError{Expected: "a Status", Found: "something else"}
	}
	text := func(v Value, path string) string { return Redact(body, v.Get(path).String()) }
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

// Redact returns text without the credential that a response was requested with. A transport implements it: its bodies have a
// method Redact(text string) string. A [Transport] that wraps the bodies of another one should forward the method by calling
// Redact. For any other body the text is returned unchanged.
func Redact(body io.Reader, text string) string {
	if r, ok := body.(interface{ Redact(text string) string }); ok {
		return r.Redact(text)
	}
	return text
}

// firstLine shortens a page of text or HTML to something that fits into an error.
func firstLine(text []byte) string {
	const most = 200
	for i, c := range text {
		if c < ' ' || i == most {
			return string(text[:i])
		}
	}
	return string(text)
}

// int32Of returns an int32 of the Kubernetes API. An integer out of range becomes the nearest int32.
func int32Of(v Value) int { return int(min(max(v.Int(), math.MinInt32), math.MaxInt32)) }
