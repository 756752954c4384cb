package cache

import "errors"

// An error from [Reflector.Restore] matches ErrForeign or ErrCorrupt unless the reader failed.
var (
	// ErrForeign reports that a state was saved with another origin or other selectors. See [Save].
	ErrForeign = errors.New("it belongs to another collection")
	// ErrCorrupt reports that a saved state is damaged, truncated, in a newer format, or contains an object that parse
	// rejects.
	ErrCorrupt = errors.New("it is damaged")

	errTruncated   error = &corruption{"it is truncated"}
	errNewerFormat error = &corruption{"it has format"}
	errUnreadable  error = &corruption{"it contains an object that cannot be decoded"}
)

// corruption is an error that matches [ErrCorrupt].
type corruption struct{ text string }

func (c *corruption) Error() string { return c.text }

func (*corruption) Unwrap() error { return ErrCorrupt }

// restoreError reports why a saved state cannot be used.
type restoreError struct {
	reason error  // errTruncated, ErrCorrupt, ErrForeign, errNewerFormat, errUnreadable, or the reader's error
	detail string // may be empty; never contains object data
	err    error  // error that parse returned, or nil
}

func (e *restoreError) Error() string {
	text := "cache: cannot use the saved state: " + e.reason.Error()
	if e.reason == errNewerFormat {
		text += " " + e.detail
	} else if e.detail != "" {
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

func originError(field, saved, wanted string) error {
	return &restoreError{reason: ErrForeign, detail: field + " was \"" + saved + "\", now \"" + wanted + "\""}
}
