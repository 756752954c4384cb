package lwtest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// apiStatus is a metav1.Status response. It implements error. Zero fields are omitted from the JSON.
type apiStatus struct {
	Code    int    // HTTP status code
	Reason  string // for example "Expired" or "NotFound"
	Message string
	Details *apiDetails

	proceed string // value of metadata.continue
}

// apiDetails is the details field of a Status.
type apiDetails struct {
	Name              string     `json:"name,omitempty"`
	Group             string     `json:"group,omitempty"`
	Kind              string     `json:"kind,omitempty"` // plural resource name or kind of the object
	UID               string     `json:"uid,omitempty"`
	Causes            []apiCause `json:"causes,omitempty"`
	RetryAfterSeconds int        `json:"retryAfterSeconds,omitempty"`
}

// apiCause is an element of details.causes in a Status.
type apiCause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

func (s *apiStatus) Error() string { return s.client().Error() }

// client returns the error that a client gets for this status.
func (s *apiStatus) client() *lw.StatusError {
	e := &lw.StatusError{Code: s.Code, Reason: s.Reason, Message: s.Message}
	if d := s.Details; d != nil {
		e.Name, e.Group, e.Kind = d.Name, d.Group, d.Kind
		e.RetryAfter = time.Duration(d.RetryAfterSeconds) * time.Second
		for _, cause := range d.Causes {
			e.Causes = append(e.Causes, lw.StatusCause(cause))
		}
	}
	return e
}

// clientError converts an apiStatus to an error for callers of [Server] methods.
func clientError(err error) error {
	if status, ok := err.(*apiStatus); ok {
		return status.client()
	}
	return err
}

// newStatus returns the status that a client decodes as e.
func newStatus(e *lw.StatusError) *apiStatus {
	d := &apiDetails{Name: e.Name, Group: e.Group, Kind: e.Kind, RetryAfterSeconds: int(e.RetryAfter.Seconds())}
	for _, cause := range e.Causes {
		d.Causes = append(d.Causes, apiCause(cause))
	}
	s := &apiStatus{Code: e.Code, Reason: e.Reason, Message: e.Message}
	if d.Name+d.Group+d.Kind != "" || d.RetryAfterSeconds != 0 || d.Causes != nil {
		s.Details = d
	}
	return s
}

// MarshalJSON encodes a Status object with apiVersion v1.
func (s *apiStatus) MarshalJSON() ([]byte, error) {
	type meta struct {
		Continue string `json:"continue,omitempty"`
	}
	wire := struct {
		Kind       string      `json:"kind"`
		APIVersion string      `json:"apiVersion"`
		Metadata   meta        `json:"metadata"`
		Status     string      `json:"status"`
		Message    string      `json:"message,omitempty"`
		Reason     string      `json:"reason,omitempty"`
		Details    *apiDetails `json:"details,omitempty"`
		Code       int         `json:"code,omitempty"`
	}{
		Kind: "Status", APIVersion: "v1", Metadata: meta{s.proceed}, Status: "Failure",
		Message: s.Message, Reason: s.Reason, Details: s.Details, Code: s.Code,
	}
	if s.Code < http.StatusBadRequest {
		wire.Status, wire.Code = "Success", 0
	}
	return marshal(wire), nil
}

func badRequest(format string, args ...any) *apiStatus {
	return &apiStatus{Code: http.StatusBadRequest, Reason: "BadRequest", Message: fmt.Sprintf(format, args...)}
}

func objectDetails(res *Resource, name string) *apiDetails {
	return &apiDetails{Name: name, Group: res.Group, Kind: res.Plural}
}

func notFound(res *Resource, name string) *apiStatus {
	return &apiStatus{
		Code: http.StatusNotFound, Reason: "NotFound",
		Message: fmt.Sprintf("%s %q not found", res.id(), name), Details: objectDetails(res, name),
	}
}

func alreadyExists(res *Resource, name string) *apiStatus {
	return &apiStatus{
		Code: http.StatusConflict, Reason: "AlreadyExists",
		Message: fmt.Sprintf("%s %q already exists", res.id(), name), Details: objectDetails(res, name),
	}
}

func conflict(res *Resource, name, why string) *apiStatus {
	return &apiStatus{
		Code: http.StatusConflict, Reason: "Conflict", Details: objectDetails(res, name),
		Message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", res.id(), name, why),
	}
}

// invalid returns a 422 status for a field with an invalid value.
func invalid(res *Resource, name string, cause apiCause) *apiStatus {
	kind := res.Kind
	if res.Group != "" {
		kind += "." + res.Group
	}
	return &apiStatus{
		Code: http.StatusUnprocessableEntity, Reason: "Invalid",
		Message: fmt.Sprintf("%s %q is invalid: %s: %s", kind, name, cause.Field, cause.Message),
		Details: &apiDetails{Name: name, Group: res.Group, Kind: res.Kind, Causes: []apiCause{cause}},
	}
}

// noResource returns a 404 status for an unknown resource in a known group.
func noResource() *apiStatus {
	return &apiStatus{
		Code: http.StatusNotFound, Reason: "NotFound", Details: &apiDetails{},
		Message: "the server could not find the requested resource",
	}
}

func methodNotAllowed() *apiStatus {
	return &apiStatus{
		Code: http.StatusMethodNotAllowed, Reason: "MethodNotAllowed", Details: &apiDetails{},
		Message: "the server does not allow this method on the requested resource",
	}
}

func unsupportedMediaType(accepted string) *apiStatus {
	return &apiStatus{
		Code: http.StatusUnsupportedMediaType, Reason: "UnsupportedMediaType", Details: &apiDetails{},
		Message: "the body of the request was in an unknown format - accepted media types include: " + accepted,
	}
}

func expired(format string, args ...any) *apiStatus {
	return &apiStatus{Code: http.StatusGone, Reason: "Expired", Message: fmt.Sprintf(format, args...)}
}

func tooLarge(asked, current int64) *apiStatus {
	return &apiStatus{
		Code: http.StatusGatewayTimeout, Reason: "Timeout",
		Message: fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", asked, current),
		Details: &apiDetails{
			Causes:            []apiCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}},
			RetryAfterSeconds: 1,
		},
	}
}
