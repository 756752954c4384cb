package jsonscan

import "io"

const maxDepth = 1000 // maximum nesting; the error text of tooDeep contains it

// Reader reads the frames of a stream. Use [New], [NewText] or [Within].
type Reader struct {
	buffer
	depth int
}

// Span is the position of a value in the current frame, relative to the frame's first byte.
type Span struct {
	Start, End int
	Escaped    bool // whether the span contains escape sequences
}

// New returns a reader of src. limit is the maximum size of a frame, in bytes. The caller must call [Reader.Release].
func New(src io.Reader, limit int) *Reader {
	return &Reader{buffer: newBuffer(src, limit)}
}

// NewText returns a reader of a copy of text. The copy never moves or changes, so views of it stay valid.
func NewText(text []byte, limit int) *Reader {
	data := make([]byte, len(text)+pad)
	return &Reader{buffer: buffer{data: data, end: copy(data, text), max: limit, srcErr: io.EOF}}
}

// Within returns a reader of a frame without copying it. Another reader must have validated the frame and must keep it
// in memory, together with the pad bytes after it.
func Within(frame []byte) Reader {
	return Reader{buffer: buffer{data: frame[:len(frame)+pad], end: len(frame), srcErr: io.EOF}}
}

// Begin moves to the next frame and marks its first byte. It blocks until that byte arrives. At the end of the stream it
// returns false, and Err returns io.EOF or the error from the source.
func (r *Reader) Begin() bool {
	if r.err != nil {
		return false
	}
	r.Mark()
	if r.pos == r.end {
		r.err = r.srcErr
		return false
	}
	return true
}

// Mark skips white space and begins a frame at the next byte. A frame can be part of a value, for example an item of a
// list.
func (r *Reader) Mark() {
	r.mark = -1
	r.Next()
	r.mark = r.pos
}

// Unmark ends the frame and lets the buffer discard its bytes.
func (r *Reader) Unmark() { r.mark = -1 }

// EndFrame checks the size of the frame that ends at the current position. It returns false after an error.
func (r *Reader) EndFrame() bool {
	if r.err == nil && r.pos-r.mark > r.max {
		r.Fail(TooLarge(r.base+int64(r.mark), r.max))
	}
	r.unended = 0
	return r.err == nil
}

// Frame returns the text from the mark to the current position. The text is valid until the next method call, or
// permanently if the reader was created with [NewText].
func (r *Reader) Frame() []byte { return r.data[r.mark:r.pos] }

// Part returns the text from start to end, which are relative to the mark. The text is valid until the next method
// call, or permanently if the reader was created with [NewText].
func (r *Reader) Part(start, end int) []byte { return r.data[r.mark+start : r.mark+end] }

// Pos returns the position of the next byte, relative to the mark.
func (r *Reader) Pos() int { return r.pos - r.mark }

// Offset converts a position to an offset in the stream. If no mark is set, pos must be a result of Pos.
func (r *Reader) Offset(pos int) int64 { return r.base + int64(r.mark+pos) }

// Next skips white space and returns the next byte without consuming it. It returns zero at the end of the stream.
func (r *Reader) Next() byte {
	for {
		c := r.data[r.pos]
		switch {
		case c > ' ':
			return c
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			r.pos++
		case r.pos < r.end:
			return c
		case !r.fill():
			return 0
		}
	}
}

// End checks that the rest of the stream is white space. It returns false after an error.
func (r *Reader) End(expected string) bool {
	if r.Next(); r.pos < r.end || r.srcErr != io.EOF {
		return r.Expected(expected)
	}
	return r.err == nil
}
