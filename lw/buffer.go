package lw

import "io"

const (
	// DefaultMaxFrame is the largest event, or list item, that is accepted by default, in bytes.
	DefaultMaxFrame = 64 << 20

	// pad zero bytes always stand behind the data, so that the scanner may load sixteen bytes at any position and
	// meets a byte that no JSON text contains where the data end. It then needs no length check of its own.
	pad = 16

	firstBuffer  = 4 << 10  // an idle watch costs no more than this
	streamBuffer = 64 << 10 // what a busy stream grows to
	largeBuffer  = 1 << 20  // what is given back after a large frame
)

// buffer holds the part of a stream that is being scanned. Its owner advances pos; fill brings more.
// Positions move when fill makes room, so whoever must survive it counts from mark, or reads pos again.
type buffer struct {
	src  io.Reader
	data []byte // data[:end] was read; pad zero bytes follow
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
	return buffer{src: src, data: make([]byte, firstBuffer), mark: -1, max: maxFrame}
}

// textBuffer holds a copy of a whole text, which never moves or changes.
func textBuffer(text []byte) buffer {
	data := make([]byte, len(text)+pad)
	return buffer{data: data, end: copy(data, text), mark: -1, srcErr: io.EOF}
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

// makeRoom forgets what is no longer needed, and grows the buffer when what is needed fills more than half of it.
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
	if kept > 0 && !full {
		return
	}
	target := b.data
	if size := b.wantedSize(kept, full); size != len(b.data) {
		target = make([]byte, size)
	}
	copy(target, b.data[keep:b.end])
	b.data = target
	b.base += int64(keep)
	b.pos -= keep
	b.end = kept
	if b.mark >= 0 {
		b.mark = 0
	}
}

func (b *buffer) wantedSize(kept int, full bool) int {
	size := len(b.data)
	switch {
	case kept > size/2:
		return 2 * size
	case full && size < streamBuffer: // the reader gives more than we take at once
		return 2 * size
	case size > largeBuffer && kept < streamBuffer/2: // a large frame has passed
		return streamBuffer
	}
	return size
}
