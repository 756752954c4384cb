package lwtest

import (
	"fmt"
	"net/http"
)

// Status is the body of an answer that is no object: a failure's as a rule. The server's Go methods return it as their
// error. Zero fields are left out on the wire.
type Status struct {
	Code    int    // HTTP status code
	Reason  string // "Expired", "NotFound", …
	Message string
	Details *Details

	proceed string // metadata.continue
}

// Details are a Status's machine-readable part.
type Details struct {
	Name              string  `json:"name,omitempty"`
	Group             string  `json:"group,omitempty"`
	Kind              string  `json:"kind,omitempty"` // the plural name of the resource, or a kind
	UID               string  `json:"uid,omitempty"`
	Causes            []Cause `json:"causes,omitempty"`
	RetryAfterSeconds int     `json:"retryAfterSeconds,omitempty"`
}

// Cause is one of the reasons in a Status's details.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// Error gives the code, the reason and the message.
func (s *Status) Error() string {
	return fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
}

// MarshalJSON gives the form on the wire, of kind Status and version v1.
func (s *Status) MarshalJSON() ([]byte, error) {
	type meta struct {
		Continue string `json:"continue,omitempty"`
	}
	wire := struct {
		Kind       string   `json:"kind"`
		APIVersion string   `json:"apiVersion"`
		Metadata   meta     `json:"metadata"`
		Status     string   `json:"status"`
		Message    string   `json:"message,omitempty"`
		Reason     string   `json:"reason,omitempty"`
		Details    *Details `json:"details,omitempty"`
		Code       int      `json:"code,omitempty"`
	}{
		Kind: "Status", APIVersion: "v1", Metadata: meta{s.proceed}, Status: "Failure",
		Message: s.Message, Reason: s.Reason, Details: s.Details, Code: s.Code,
	}
	if s.Code < http.StatusBadRequest {
		wire.Status, wire.Code = "Success", 0
	}
	return marshal(wire), nil
}

func badRequest(format string, args ...any) *Status {
	return &Status{Code: http.StatusBadRequest, Reason: "BadRequest", Message: fmt.Sprintf(format, args...)}
}

func objectDetails(res *Resource, name string) *Details {
	return &Details{Name: name, Group: res.Group, Kind: res.Plural}
}

func notFound(res *Resource, name string) *Status {
	return &Status{
		Code: http.StatusNotFound, Reason: "NotFound",
		Message: fmt.Sprintf("%s %q not found", res.id(), name), Details: objectDetails(res, name),
	}
}

func alreadyExists(res *Resource, name string) *Status {
	return &Status{
		Code: http.StatusConflict, Reason: "AlreadyExists",
		Message: fmt.Sprintf("%s %q already exists", res.id(), name), Details: objectDetails(res, name),
	}
}

func conflict(res *Resource, name, why string) *Status {
	return &Status{
		Code: http.StatusConflict, Reason: "Conflict", Details: objectDetails(res, name),
		Message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", res.id(), name, why),
	}
}

// invalid refuses an object for one of its fields.
func invalid(res *Resource, name string, cause Cause) *Status {
	kind := res.Kind
	if res.Group != "" {
		kind += "." + res.Group
	}
	return &Status{
		Code: http.StatusUnprocessableEntity, Reason: "Invalid",
		Message: fmt.Sprintf("%s %q is invalid: %s: %s", kind, name, cause.Field, cause.Message),
		Details: &Details{Name: name, Group: res.Group, Kind: res.Kind, Causes: []Cause{cause}},
	}
}

// noResource is the answer for what a known group does not serve.
func noResource() *Status {
	return &Status{
		Code: http.StatusNotFound, Reason: "NotFound", Details: &Details{},
		Message: "the server could not find the requested resource",
	}
}

func methodNotAllowed() *Status {
	return &Status{
		Code: http.StatusMethodNotAllowed, Reason: "MethodNotAllowed", Details: &Details{},
		Message: "the server does not allow this method on the requested resource",
	}
}

func unsupportedMediaType(accepted string) *Status {
	return &Status{
		Code: http.StatusUnsupportedMediaType, Reason: "UnsupportedMediaType", Details: &Details{},
		Message: "the body of the request was in an unknown format - accepted media types include: " + accepted,
	}
}

func expired(format string, args ...any) *Status {
	return &Status{Code: http.StatusGone, Reason: "Expired", Message: fmt.Sprintf(format, args...)}
}

func tooLarge(asked, current int64) *Status {
	return &Status{
		Code: http.StatusGatewayTimeout, Reason: "Timeout",
		Message: fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", asked, current),
		Details: &Details{
			Causes:            []Cause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}},
			RetryAfterSeconds: 1,
		},
	}
}
