package protoscan

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// Reader reads lengths, tags and frames from a stream. Its methods do nothing after an error. It shares the buffer, the
// size limit and the errors of a [jsonscan.Reader].
type Reader struct{ *jsonscan.Reader }

// New returns a reader of src. limit is the maximum size of a frame, in bytes. The caller must call Release.
func New(src io.Reader, limit int) Reader { return Reader{jsonscan.New(src, limit)} }

// Offset returns the position of the next byte in the stream.
func (r Reader) Offset() int64 { return r.Reader.Offset(r.Pos()) }

// Malformed records a *[jsonscan.SyntaxError] at the current offset. It returns false.
func (r Reader) Malformed(expected, found string) bool {
	return r.Fail(&jsonscan.SyntaxError{Offset: r.Offset(), Expected: expected, Found: found})
}

// Begin blocks until the next byte arrives. It returns false at the end of the stream and after an error.
func (r Reader) Begin() bool { return r.Await() }

// Uvarint reads a varint and returns its value. After an error it returns zero.
func (r Reader) Uvarint() uint64 {
	var text [maxVarint]byte
	for i := range text {
		if text[i] = r.Byte(); text[i] < 0x80 {
			break
		}
	}
	v, size := uvarint(text[:])
	if size == 0 {
		r.Malformed("a 64-bit varint", "a longer varint")
	}
	if r.Err() != nil {
		return 0
	}
	return v
}

// Uint32 reads four bytes and returns them as a big-endian number.
func (r Reader) Uint32() (v uint32) {
	for range 4 {
		v = v<<8 | uint32(r.Byte())
	}
	return v
}

// Frame reads the given number of bytes. It returns nil after an error. The result is valid until the next call.
func (r Reader) Frame(size uint64) Message { return r.Bytes(size) }
