package jsonscan

import (
	"io"
	"strconv"
)

// SyntaxError reports invalid JSON, truncated JSON, or a value of an unexpected type. It contains at most one byte of
// the text.
type SyntaxError struct {
	Offset   int64  // byte offset in the stream
	Expected string // expected syntax at Offset
	Found    string // syntax found at Offset
	Err      error  // io.ErrUnexpectedEOF if the text was truncated
}

func (e *SyntaxError) Error() string {
	return "byte " + strconv.FormatInt(e.Offset, 10) + ": expected " + e.Expected + ", found " + e.Found
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// LimitError reports a frame that is larger than the limit.
type LimitError struct {
	Offset int64 // byte offset of the frame in the stream
	Limit  int   // size limit of a frame, in bytes
}

func (e *LimitError) Error() string {
	return "the frame at byte " + strconv.FormatInt(e.Offset, 10) + " is larger than " + strconv.Itoa(e.Limit) + " bytes"
}

// Err returns the first error: io.EOF after a clean end of the stream, a *[SyntaxError], a *[LimitError] or an error
// from the source.
func (r *Reader) Err() error { return r.err }

// Fail records err unless an error was recorded before. It returns false.
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
		return r.Fail(&LimitError{Offset: r.base + int64(max(r.mark, 0)), Limit: r.max})
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
	if c > ' ' && c < 0x7f {
		return "'" + string(rune(c)) + "'"
	}
	const digits = "0123456789abcdef"
	return "byte 0x" + string([]byte{digits[c>>4], digits[c&15]})
}
