package jsonscan

import (
	"io"
	"sync"
)

const (
	// pad is the number of zero bytes after the data. Because of them, the scanner can load the 16 bytes after the first
	// byte of a string without checking the length. A zero byte cannot occur in JSON, so it also marks the end of the
	// data.
	pad = 32

	idleBuffer   = 512      // buffer size of an idle stream in bytes, large enough for a bookmark event
	streamBuffer = 64 << 10 // buffer size in bytes of a stream that is receiving data
	largeBuffer  = 1 << 20  // buffers with more bytes are replaced by smaller ones once their large frames have been consumed
)

// pool holds unused buffers for streams that receive data. An idle watch returns its buffer to the pool, because a program
// may have thousands of idle watches.
var pool = sync.Pool{New: func() any { return new([streamBuffer]byte) }}

// buffer holds the part of a stream that is being scanned. The owner advances pos, and fill appends data. fill may move
// the data, which invalidates positions relative to data[0]. Positions relative to mark stay valid.
type buffer struct {
	// Progress is called before the buffer waits for the rest of a frame, but only if a part of the frame has arrived
	// since the previous call. White space does not count, and neither do bytes beyond the size limit of a frame, because
	// a hostile server could send them forever. Progress may be nil.
	Progress func()

	src  io.Reader
	data []byte // data[:end] holds the bytes that were read, and the next pad bytes are zero
	idle []byte // small buffer to which data refers while the stream is idle
	end  int
	pos  int   // position of the next byte
	mark int   // position of the first byte to keep, or negative to keep no bytes before pos
	base int64 // offset of data[0] in the stream
	max  int   // maximum size of a frame, in bytes

	news     bool  // bytes other than white space have arrived since the last call of Progress
	unended  int   // number of bytes that have arrived since the last complete frame
	err      error // first error of the reader
	srcErr   error // error returned by src
	tooLarge bool
}

func newBuffer(src io.Reader, limit int) buffer {
	idle := make([]byte, idleBuffer)
	return buffer{src: src, data: idle, idle: idle, mark: -1, max: limit}
}

// fill reads more data. If it returns false, err, srcErr or tooLarge is set.
func (b *buffer) fill() bool {
	if b.err != nil || b.srcErr != nil || b.tooLarge {
		return false
	}
	b.makeRoom()
	if b.tooLarge {
		return false
	}
	if b.Progress != nil && b.mark >= 0 && b.news && b.unended <= b.max {
		b.news = false
		b.Progress()
	}
	for range 100 { // like bufio.Reader, give up if the source keeps returning no data
		n, err := b.src.Read(b.data[b.end : len(b.data)-pad])
		b.news = b.news || !isBlank(b.data[b.end:b.end+n])
		b.end += n
		b.unended += n
		clear(b.data[b.end : b.end+pad]) // Read may use the bytes after the data as scratch space
		b.srcErr = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	b.srcErr = io.ErrNoProgress
	return false
}

func isBlank(text []byte) bool {
	for _, c := range text {
		if c > ' ' {
			return false
		}
	}
	return true
}

// makeRoom drops data that is no longer needed, and replaces a buffer of the wrong size. It keeps the current frame, or if
// there is none, the data that has not been scanned.
func (b *buffer) makeRoom() {
	keep := b.mark
	if keep < 0 {
		keep = b.pos
	}
	kept := b.end - keep
	if kept > b.max {
		b.tooLarge = true
		return
	}
	full := b.end+pad == len(b.data)
	size := b.wantedSize(kept, full)
	if size == len(b.data) && kept > 0 && !full {
		return
	}
	target := b.data
	if size != len(b.data) {
		target = b.allocate(size)
	}
	copy(target, b.data[keep:b.end])
	if size != len(b.data) {
		b.Release()
	}
	b.data = target
	b.base += int64(keep)
	b.pos -= keep
	b.end = kept
	if b.mark >= 0 {
		b.mark = 0
	}
}

// wantedSize returns the size of the buffer for the next Read. kept is the number of bytes to keep. full means that the
// buffer has no space left.
func (b *buffer) wantedSize(kept int, full bool) int {
	switch size := len(b.data); {
	case kept == 0 && !full: // all data was consumed, and the next Read may block for hours
		return idleBuffer
	case size < streamBuffer:
		return streamBuffer
	case full && kept > size/2:
		return 2 * size
	case full && size > largeBuffer && kept < streamBuffer/2: // the large frame has been consumed
		return streamBuffer
	default:
		return size
	}
}

// allocate returns a buffer of this size. The buffer may come from the pool, so its content is undefined.
func (b *buffer) allocate(size int) []byte {
	switch size {
	case idleBuffer:
		return b.idle
	case streamBuffer:
		return pool.Get().(*[streamBuffer]byte)[:]
	}
	return make([]byte, size)
}

// Release returns the buffer to the pool. The caller must not use any part of it afterwards.
func (b *buffer) Release() {
	if len(b.data) == streamBuffer {
		pool.Put((*[streamBuffer]byte)(b.data))
	}
	b.data = nil
}
