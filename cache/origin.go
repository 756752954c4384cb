package cache

import (
	"errors"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Origin says where objects are from, and what was kept of them. A state that was saved is restored only under the same
// Origin.
type Origin struct {
	// Server identifies the cluster, not only its address: a cluster that was made anew under the old address counts its
	// resource versions anew. The address and a hash of its certificate authority do, or the UID of the namespace
	// kube-system.
	Server string

	Resource lw.Resource

	// The selectors, as in lw.Options.
	LabelSelector, FieldSelector, ShardSelector string

	// Form names what the codec keeps, as the paths that lw.Project was given; "" if it keeps all. It must change when the
	// codec does: objects that do not change on the server are not sent again.
	Projection string
}

type originField struct{ name, value string }

const originFields = 7

// fields are the header's texts, in the format's order.
func (o *Origin) fields() [originFields]originField {
	return [originFields]originField{
		{"server", o.Server},
		{"resource", o.Resource.String()},
		{"API version", o.Resource.Version},
		{"label selector", o.LabelSelector},
		{"field selector", o.FieldSelector},
		{"shard selector", o.ShardSelector},
		{"form", o.Projection},
	}
}

// What is wrong with a saved state, for errors.Is.
var (
	// ErrTruncated: it ends too early.
	ErrTruncated = errors.New("it is cut short")
	// ErrCorrupt: it is damaged, or no saved state at all.
	ErrCorrupt = errors.New("it is damaged")
	// ErrForeign: it is of another [Origin].
	ErrForeign = errors.New("it is of another collection")
	// ErrNewerFormat: it was saved by a later version of this package.
	ErrNewerFormat = errors.New("it has a newer format")
)

// RestoreError says why a saved state cannot be used. Nothing was changed, and the stream begins with a list.
type RestoreError struct {
	Reason error  // ErrTruncated, ErrCorrupt, ErrForeign, ErrNewerFormat, or what the reader said
	Detail string // may be empty; nothing of an object
	Err    error  // what the parsing of an object said, or nil
}

func (e *RestoreError) Error() string {
	text := "cache: the saved state cannot be used, a list takes its place: " + e.Reason.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Reason, and Err if there is one.
func (e *RestoreError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Err}
}

func corrupt(detail string) error { return &RestoreError{Reason: ErrCorrupt, Detail: detail} }

func foreign(what, saved, wanted string) error {
	return &RestoreError{Reason: ErrForeign, Detail: "the " + what + " was \"" + saved + "\", and is \"" + wanted + "\""}
}
