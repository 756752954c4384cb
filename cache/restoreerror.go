package cache

import "errors"

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

func corruptError(detail string) error { return &RestoreError{Reason: ErrCorrupt, Detail: detail} }

func originError(what, saved, wanted string) error {
	return &RestoreError{Reason: ErrForeign, Detail: "the " + what + " was \"" + saved + "\", and is \"" + wanted + "\""}
}
