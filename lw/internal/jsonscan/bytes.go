package jsonscan

import "io"

// The methods in this file read binary data, for the protobuf decoder of package lw.

// Ahead reports whether another byte follows. It blocks until the byte arrives or the stream ends.
func (r *Reader) Ahead() bool { return r.err == nil && (r.pos < r.end || r.fill()) }

// Await blocks until the next byte arrives. At the end of the stream it returns false, and Err returns io.EOF or the
// error from the source.
func (r *Reader) Await() bool {
	if !r.Ahead() {
		r.Fail(r.srcErr)
	}
	return r.err == nil
}

// AtEnd reports whether the stream has ended cleanly. It blocks until data arrives or the stream ends.
func (r *Reader) AtEnd() bool { return !r.Ahead() && r.err == nil && r.srcErr == io.EOF }

// Byte reads one byte and returns it. After an error it returns zero.
func (r *Reader) Byte() byte {
	if !r.Ahead() {
		r.Expected("more bytes")
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

// Bytes reads n bytes, which are valid until the next call. It returns nil after an error. Memory is allocated only as
// the bytes arrive, so a wrong size cannot exhaust it.
func (r *Reader) Bytes(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(r.max) {
		r.Fail(TooLarge(r.base+int64(r.pos), r.max))
		return nil
	}
	r.mark = r.pos
	for r.news = true; r.end-r.mark < int(n) && r.fill(); r.news = true { // in binary data, white space and zeros are progress, too
	}
	data := r.data[r.mark:r.end]
	r.mark, r.unended = -1, 0
	if len(data) < int(n) {
		r.pos = r.end
		r.Expected("more bytes")
		return nil
	}
	r.pos += int(n)
	return data[:n:n]
}
