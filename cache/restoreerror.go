package cache

import "errors"

// Errors of Restore, for errors.Is. An error of the reader matches neither.
var (
	// ErrForeign reports that a saved state has another [Origin].
	ErrForeign = errors.New("it is of another collection")
	// ErrCorrupt reports that a saved state cannot be read: it is damaged, cut short, or has a newer format.
	ErrCorrupt = errors.New("it is damaged")

	errTruncated   error = &corruption{"it is cut short"}
	errNewerFormat error = &corruption{"it has a newer format"}
)

// corruption is a kind of [ErrCorrupt].
type corruption struct{ text string }

func (c *corruption) Error() string { return c.text }

func (*corruption) Unwrap() error { return ErrCorrupt }

// restoreError reports why a saved state cannot be used.
type restoreError struct {
	reason error  // errTruncated, ErrCorrupt, ErrForeign, errNewerFormat, or the error of the reader
	detail string // may be empty; it has no part of an object
	err    error  // the error of parsing an object, or nil
}

func (e *restoreError) Error() string {
	text := "cache: the saved state cannot be used, a list takes its place: " + e.reason.Error()
	if e.detail != "" {
		text += ": " + e.detail
	}
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text
}

func (e *restoreError) Unwrap() []error {
	if e.err == nil {
		return []error{e.reason}
	}
	return []error{e.reason, e.err}
}

func corruptError(detail string) error { return &restoreError{reason: ErrCorrupt, detail: detail} }

func originError(what, saved, wanted string) error {
	return &restoreError{reason: ErrForeign, detail: "the " + what + " was \"" + saved + "\", and is \"" + wanted + "\""}
}
