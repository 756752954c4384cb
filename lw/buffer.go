package lw

import "io"

const (
	// DefaultMaxFrame is the largest event, or list item, that is accepted by default, in bytes.
	DefaultMaxFrame = 64 << 20

	mostFrame = 1 << 30 // what a larger limit comes down to, as an Object counts in 32 bits

	// pad zero bytes always stand behind the data, so that the scanner may load sixteen bytes at any position and
	// meets a byte that no JSON text contains where the data end. It then needs no length check of its own.
	pad = 16

	idleBuffer   = 512      // what a stream waits with; a bookmark needs no more
	streamBuffer = 64 << 10 // what it is lent as soon as more comes
	largeBuffer  = 1 << 20  // what is given back after a large frame, even if the next one has begun
)

// buffer holds the part of a stream that is being scanned. Its owner advances pos; fill brings more.
// Positions move when fill makes room, so whoever must survive it counts from mark, or reads pos again.
type buffer struct {
	src  io.Reader
	data []byte // data[:end] was read; pad zero bytes follow
	idle []byte // is data while nothing is at hand
	end  int
	pos  int   // the next byte to look at
	mark int   // the first byte to keep; below zero: nothing before pos is needed
	base int64 // offset in the stream of data[0]
	max  int   // the most bytes that may be kept

	srcErr   error // what src said at its end
	tooLarge bool
}

func newBuffer(src io.Reader, maxFrame int) buffer {
	if maxFrame <= 0 {
		maxFrame = DefaultMaxFrame
	}
	idle := make([]byte, idleBuffer)
	return buffer{src: src, data: idle, idle: idle, mark: -1, max: min(maxFrame, mostFrame)}
}

// textBuffer holds a copy of a whole text, which never moves or changes.
func textBuffer(text []byte) buffer {
	data := make([]byte, len(text)+pad)
	return buffer{data: data, end: copy(data, text), max: mostFrame, srcErr: io.EOF}
}

// offset is the position in the stream of the byte at i.
func (b *buffer) offset(i int) int64 { return b.base + int64(i) }

// fill reads more. It returns false when nothing more comes: srcErr or tooLarge says why.
func (b *buffer) fill() bool {
	if b.srcErr != nil || b.tooLarge {
		return false
	}
	b.makeRoom()
	if b.tooLarge {
		return false
	}
	for range 100 {
		n, err := b.src.Read(b.data[b.end : len(b.data)-pad])
		b.end += n
		clear(b.data[b.end : b.end+pad]) // a Reader may use all of what it was given as scratch space
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

// makeRoom forgets what is no longer needed, and goes over to a buffer of another size where that fits better.
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
		target = b.take(size)
	}
	copy(target, b.data[keep:b.end])
	if size != len(b.data) {
		b.release()
	}
	b.data = target
	b.base += int64(keep)
	b.pos -= keep
	b.end = kept
	if b.mark >= 0 {
		b.mark = 0
	}
}

func (b *buffer) wantedSize(kept int, full bool) int {
	switch size := len(b.data); {
	case kept == 0 && !full: // all that came was used: the next Read may wait for hours
		return idleBuffer
	case size < streamBuffer:
		return streamBuffer
	case full && kept > size/2:
		return 2 * size
	case full && size > largeBuffer && kept < streamBuffer/2: // a large frame has passed
		return streamBuffer
	default:
		return size
	}
}

// take returns a buffer, whose content is of no meaning.
func (b *buffer) take(size int) []byte {
	switch size {
	case idleBuffer:
		return b.idle
	case streamBuffer:
		return borrow()[:]
	}
	return make([]byte, size)
}

// release ends the use of data, and of all that views it.
func (b *buffer) release() {
	if len(b.data) == streamBuffer {
		giveBack((*[streamBuffer]byte)(b.data))
	}
	b.data = nil
}
