package protoscan

import (
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

const (
	readAhead   = 1 << 10  // buffer size for lengths and tags between frames, in bytes
	pooledFrame = 64 << 10 // a larger buffer is not returned to the pool
)

var frames = sync.Pool{New: func() any { return new([pooledFrame]byte) }}

// Reader reads lengths, tags and frames from a stream. Its methods do nothing after an error. It holds no frame buffer
// while it waits for a frame.
type Reader struct {
	// Progress is called before the reader waits for the rest of a frame, if a part of the frame has arrived since the
	// previous call. It may be nil.
	Progress func()

	src    io.Reader
	ahead  []byte // bytes that were read from src but not returned yet
	buffer [readAhead]byte
	offset int64
	limit  int
	frame  []byte
	err    error
}

// New returns a reader of src. limit is the maximum size of a frame, in bytes. The caller must call [Reader.Release].
func New(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit}
}

// Source returns the io.Reader that was passed to [New].
func (r *Reader) Source() io.Reader { return r.src }

// Err returns the first error: io.EOF if the stream ended between frames, a *[jsonscan.SyntaxError], a
// *[jsonscan.LimitError] or an error of the source.
func (r *Reader) Err() error { return r.err }

// Fail records err unless an error was recorded before. It returns false.
func (r *Reader) Fail(err error) bool {
	if r.err == nil {
		r.err = err
	}
	return false
}

// Offset returns the position of the next byte in the stream.
func (r *Reader) Offset() int64 { return r.offset }

// Malformed records a *[jsonscan.SyntaxError] at the current offset. It returns false.
func (r *Reader) Malformed(expected, found string) bool {
	return r.Fail(&jsonscan.SyntaxError{Offset: r.offset, Expected: expected, Found: found})
}

// Begin blocks until the next byte arrives. It returns false at the end of the stream and after an error.
func (r *Reader) Begin() bool {
	r.Release()
	if r.err == nil {
		r.err = r.fill()
	}
	return r.err == nil
}

// AtEnd reports whether the stream has ended cleanly. It blocks until data arrives or the stream ends.
func (r *Reader) AtEnd() bool { return r.err == nil && r.fill() == io.EOF }

// fill reads from src until r.ahead holds data. It returns the error of src if no data arrives.
func (r *Reader) fill() error {
	for range 100 {
		if len(r.ahead) > 0 {
			return nil
		}
		n, err := r.src.Read(r.buffer[:])
		r.ahead = r.buffer[:n]
		if err != nil && n == 0 {
			return err
		}
	}
	return io.ErrNoProgress
}

// Byte reads one byte and returns it. After an error it returns zero.
func (r *Reader) Byte() byte {
	if r.err != nil {
		return 0
	}
	if err := r.fill(); err != nil {
		r.cut(err)
		return 0
	}
	b := r.ahead[0]
	r.ahead = r.ahead[1:]
	r.offset++
	return b
}

// Uvarint reads a varint and returns its value. After an error it returns zero.
func (r *Reader) Uvarint() uint64 {
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
	if r.err != nil {
		return 0
	}
	return v
}

// Uint32 reads four bytes and returns them as a big-endian number.
func (r *Reader) Uint32() (v uint32) {
	for range 4 {
		v = v<<8 | uint32(r.Byte())
	}
	return v
}

// Frame reads the given number of bytes. It returns nil after an error. The result is valid until the next call of
// Frame, Begin or Release. Memory is allocated only as the bytes arrive, so a wrong size cannot exhaust it.
func (r *Reader) Frame(size uint64) Message {
	if r.err != nil {
		return nil
	}
	if size > uint64(r.limit) {
		r.Fail(&jsonscan.LimitError{Offset: r.offset, Limit: r.limit})
		return nil
	}
	if r.frame == nil {
		r.frame = frames.Get().(*[pooledFrame]byte)[:]
	}
	for filled := 0; ; {
		end := min(int(size), len(r.frame))
		n := copy(r.frame[filled:end], r.ahead) // the length of the frame has arrived, even if n is zero
		r.ahead = r.ahead[n:]
		more, err := r.readFull(r.frame[filled+n : end])
		r.offset += int64(n + more)
		if err != nil {
			r.cut(err)
			return nil
		}
		if filled = end; filled == int(size) {
			return r.frame[:size:size]
		}
		larger := make([]byte, min(2*len(r.frame), int(size)))
		copy(larger, r.frame)
		r.Release()
		r.frame = larger
	}
}

// Discard skips the given number of bytes.
func (r *Reader) Discard(size uint64) {
	for size > 0 && r.err == nil {
		if err := r.fill(); err != nil {
			r.cut(err)
			return
		}
		n := min(size, uint64(len(r.ahead)))
		r.ahead = r.ahead[n:]
		r.offset += int64(n)
		size -= n
	}
}

// Release returns the frame buffer to the pool.
func (r *Reader) Release() {
	if len(r.frame) == pooledFrame {
		frames.Put((*[pooledFrame]byte)(r.frame))
	}
	r.frame = nil
}

// readFull fills p from the source. Unlike io.ReadFull, it returns the error of the source unchanged.
func (r *Reader) readFull(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if r.Progress != nil {
			r.Progress()
		}
		var more int
		more, err = r.src.Read(p[n:])
		n += more
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// cut records an error that the source returned within a frame. A clean end of the stream becomes a *SyntaxError.
func (r *Reader) cut(err error) {
	if err == io.EOF {
		err = &jsonscan.SyntaxError{Offset: r.offset, Expected: "more bytes", Found: "the end of the stream", Err: io.ErrUnexpectedEOF}
	}
	r.Fail(err)
}
