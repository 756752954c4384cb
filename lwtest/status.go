package lwtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// newError returns the error that the server sends as a Status.
func newError(code int, reason, format string, args ...any) *lw.StatusError {
	return &lw.StatusError{Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *lw.StatusError {
	return newError(http.StatusBadRequest, "BadRequest", format, args...)
}

func expired(format string, args ...any) *lw.StatusError {
	return newError(http.StatusGone, "Expired", format, args...)
}

// noResource returns the error for a path that names no resource.
func noResource() *lw.StatusError {
	return newError(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
}

func methodNotAllowed() *lw.StatusError {
	return newError(http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource")
}

// objectError returns an error whose Status names an object in its details.
func objectError(code int, reason string, res *resource, name, format string, args ...any) *lw.StatusError {
	e := newError(code, reason, format, args...)
	e.Name, e.Group, e.Kind = name, res.group, res.plural
	return e
}

func notFound(res *resource, name string) *lw.StatusError {
	return objectError(http.StatusNotFound, "NotFound", res, name, "%s %q not found", res.id(), name)
}

func conflict(res *resource, name, format string, args ...any) *lw.StatusError {
	return objectError(http.StatusConflict, "Conflict", res, name, "Operation cannot be fulfilled on %s %q: "+format, append([]any{res.id(), name}, args...)...)
}

func invalid(res *resource, name string, cause lw.StatusCause) *lw.StatusError {
	kind := strings.TrimSuffix(res.kind+"."+res.group, ".")
	e := objectError(http.StatusUnprocessableEntity, "Invalid", res, name, "%s %q is invalid: %s: %s", kind, name, cause.Field, cause.Message)
	e.Kind, e.Causes = res.kind, []lw.StatusCause{cause}
	return e
}

func tooLarge(asked, current int64) *lw.StatusError {
	e := newError(http.StatusGatewayTimeout, "Timeout", "Timeout: Too large resource version: %d, current: %d", asked, current)
	e.Causes = []lw.StatusCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}}
	e.RetryAfter = time.Second
	return e
}

// wireStatus is the JSON of a metav1.Status.
type wireStatus struct {
	Kind       string       `json:"kind"`
	APIVersion string       `json:"apiVersion"`
	Metadata   wireListMeta `json:"metadata"`
	Status     string       `json:"status"`
	Message    string       `json:"message,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Details    *wireDetails `json:"details,omitempty"`
	Code       int          `json:"code,omitempty"`
}

type wireListMeta struct {
	Continue string `json:"continue,omitempty"`
}

type wireDetails struct {
	Name              string      `json:"name,omitempty"`
	Group             string      `json:"group,omitempty"`
	Kind              string      `json:"kind,omitempty"` // plural name of the resource; in an Invalid error, the kind
	UID               string      `json:"uid,omitempty"`
	Causes            []wireCause `json:"causes,omitempty"`
	RetryAfterSeconds int         `json:"retryAfterSeconds,omitempty"`
}

type wireCause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// emptyDetails contains the reasons of errors in which kube-apiserver sends empty details instead of omitting the
// details.
var emptyDetails = []string{"Forbidden", "MethodNotAllowed", "NotAcceptable", "NotFound", "UnsupportedMediaType"}

// encodeStatus returns the JSON of e. proceed is the continue token for the remainder of an expired list, or "".
func encodeStatus(e *lw.StatusError, proceed string) []byte {
	d := &wireDetails{Name: e.Name, Group: e.Group, Kind: e.Kind, RetryAfterSeconds: int(e.RetryAfter.Seconds())}
	for _, cause := range e.Causes {
		d.Causes = append(d.Causes, wireCause(cause))
	}
	if d.Name+d.Group+d.Kind == "" && d.RetryAfterSeconds == 0 && d.Causes == nil && !slices.Contains(emptyDetails, e.Reason) {
		d = nil
	}
	return marshal(wireStatus{"Status", "v1", wireListMeta{proceed}, "Failure", e.Message, e.Reason, d, e.Code})
}
