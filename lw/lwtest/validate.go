package lwtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// parseVersion returns a resourceVersion as a number. It returns 0 for an empty resourceVersion.
func parseVersion(version string) (int64, error) {
	if version == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(version, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", version, err)
	}
	return int64(n), nil
}

// invalidOptions collects invalid list options, with the messages of kube-apiserver.
type invalidOptions []apiCause

func (c *invalidOptions) forbid(field, why string) {
	*c = append(*c, apiCause{Reason: "FieldValueForbidden", Message: "Forbidden: " + why, Field: field})
}

func (c *invalidOptions) supportOnly(field, value string, supported ...string) {
	if slices.Contains(supported, value) {
		return
	}
	for i, s := range supported {
		supported[i] = strconv.Quote(s)
	}
	*c = append(*c, apiCause{
		Reason: "FieldValueNotSupported", Field: field,
		Message: fmt.Sprintf("Unsupported value: %q: supported values: %s", value, strings.Join(supported, ", ")),
	})
}

func (c invalidOptions) err() error {
	if len(c) == 0 {
		return nil
	}
	parts := make([]string, len(c))
	for i, cause := range c {
		parts[i] = cause.Field + ": " + cause.Message
	}
	message := strings.Join(parts, ", ")
	if len(c) > 1 {
		message = "[" + message + "]"
	}
	return &apiStatus{
		Code: http.StatusUnprocessableEntity, Reason: "Invalid",
		Message: `ListOptions.meta.k8s.io "" is invalid: ` + message,
		Details: &apiDetails{Group: "meta.k8s.io", Kind: "ListOptions", Causes: c},
	}
}

func validateList(q *query) error {
	var bad invalidOptions
	if match := q.get("resourceVersionMatch"); match != "" {
		if q.get("resourceVersion") == "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		if q.get("continue") != "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
		}
		bad.supportOnly("resourceVersionMatch", match, "Exact", "NotOlderThan", "")
		if match == "Exact" && q.get("resourceVersion") == "0" {
			bad.forbid("resourceVersionMatch", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	}
	if q.values.Has("sendInitialEvents") {
		bad.forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	return bad.err()
}

func validateWatch(q *query, streamingLists bool) error {
	var bad invalidOptions
	match, streaming := q.get("resourceVersionMatch"), q.values.Has("sendInitialEvents")
	if streaming && match != "NotOlderThan" {
		bad.forbid("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	}
	if streaming && !streamingLists {
		bad.forbid("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
	}
	if match != "" {
		if !streaming {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
		}
		bad.supportOnly("resourceVersionMatch", match, "NotOlderThan")
		if q.get("continue") != "" {
			bad.forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
		}
	}
	return bad.err()
}
