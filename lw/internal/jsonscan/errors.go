package jsonscan

import (
	"errors"
	"io"
	"strconv"
)

// ErrInvalid means that a stream is not valid. Package lw exports it.
var ErrInvalid = errors.New("the response is not valid")

// ErrTooLarge means that a frame exceeds the size limit. Package lw exports it.
var ErrTooLarge error = &Violation{"an event, a list item or a message is larger than the limit", ErrInvalid}

// Violation is an error that also matches a more general error, for use with errors.Is.
type Violation struct {
	Text string
	Of   error
}

func (v *Violation) Error() string { return v.Text }

func (v *Violation) Unwrap() error { return v.Of }

// SyntaxError reports a response that is not valid: it is not JSON, it is truncated, it has an unexpected structure, or
// a part of it is too large. It is safe to log, because it quotes at most one byte, an event type or a kind from the
// response.
type SyntaxError struct {
	Offset   int64  // byte offset in the stream, or in the text that was parsed
	Expected string // expected syntax or value
	Found    string // syntax or value at Offset
	Err      error  // io.ErrUnexpectedEOF if the text is truncated, an error that matches ErrInvalid, or nil for ErrInvalid
}

func (e *SyntaxError) Error() string {
	return "malformed response at byte " + strconv.FormatInt(e.Offset, 10) + ": expected " + e.Expected + ", found " + e.Found
}

// Unwrap returns io.ErrUnexpectedEOF if the text is truncated, or an error that matches [ErrInvalid].
func (e *SyntaxError) Unwrap() error {
	if e.Err == nil {
		return ErrInvalid
	}
	return e.Err
}

// HTML is the value of Found in a [SyntaxError] if the text looks like an HTML page. Package lw treats such a response as a
// connection failure.
const HTML = "'<' (HTML? the response may come from a proxy or a login page)"

// TooLarge returns the error for a frame at an offset in the stream that exceeds the limit, in bytes.
func TooLarge(offset int64, limit int) error {
	return &SyntaxError{
		Offset: offset, Err: ErrTooLarge, Expected: "an event or a list item of at most " + strconv.Itoa(limit) + " bytes",
		Found: "a larger one: raise ClientOptions.MaxFrame if this is expected",
	}
}

// Err returns the first error: io.EOF after a clean end of the stream, a *[SyntaxError] or an error from the source.
func (r *Reader) Err() error { return r.err }

// Fail records err, unless an earlier error was recorded. It returns false, so that callers can return its result.
func (r *Reader) Fail(err error) bool {
	if r.err == nil {
		r.err = err
	}
	return false
}

// Expected records that the next byte is not the expected syntax. If there is no next byte, it records the reason
// instead: the size limit, the end of the stream or an error from the source. It returns false.
func (r *Reader) Expected(expected string) bool {
	e := &SyntaxError{Offset: r.base + int64(r.pos), Expected: expected}
	switch {
	case r.tooLarge:
		return r.Fail(TooLarge(r.base+int64(max(r.mark, 0)), r.max))
	case r.pos < r.end:
		e.Found = describe(r.data[r.pos])
	case r.srcErr == io.EOF:
		e.Found, e.Err = "the end of the stream", io.ErrUnexpectedEOF
	default:
		return r.Fail(r.srcErr)
	}
	return r.Fail(e)
}

func describe(c byte) string {
	if c == '<' {
		return HTML
	}
	if c > ' ' && c < 0x7f {
		return "'" + string(rune(c)) + "'"
	}
	const digits = "0123456789abcdef"
	return "byte 0x" + string([]byte{digits[c>>4], digits[c&15]})
}
