package cache

import (
	"errors"
	"hash/crc32"
	"io"
)

// The format of a saved state. Numbers are little-endian; a text is its length in 4 bytes, and its bytes.
//
//	magic         16 bytes
//	format        4 bytes: 1. What follows may be different in another one
//	header        texts: the fields of Origin, then the resource version; then 8 bytes: the number of objects
//	checksum      4 bytes: CRC-32C of all before
//	objects       texts
//	checksum      4 bytes: CRC-32C of all before
//
// The header has a checksum of its own so that a damaged name is not taken for another one, and a foreign state is found
// before it is read.
const (
	saveMagic  = "listwatch state\n"
	saveFormat = 1
	maxText    = 1<<30 - 1 // text, in bytes
	chunk      = 64 << 10  // is written and read at once, in bytes
)

var (
	// ErrNotSynced: there is nothing to save before the first list is complete.
	ErrNotSynced = errors.New("cache: the snapshot has no resource version, as the first list is not complete: save a later one")
	// ErrUndecoded: the store lacks something that could not be decoded, see [Store.DecodeErrors]. A run that resumed would not
	// be sent it again, whatever codec it had.
	ErrUndecoded = errors.New("cache: the snapshot lacks objects that could not be decoded, which a run that resumed would never see")
	// ErrTextTooLong: the text of an object, or of an Origin, has 1 GiB and more.
	ErrTextTooLong = errors.New("cache: a text of 1 GiB and more cannot be saved")
)

// Save writes a snapshot in a form that [Reflector.Restore] reads. text gives an object as text: for objects of
// [lw.RawCodec] and [lw.Project] it is (*lw.Object).Raw. The objects may be Secrets, and are written as they are.
//
// The text is written piece by piece, so that no copy of all of it is made. The error is [ErrNotSynced], [ErrUndecoded],
// [ErrTextTooLong], or what w says. What was written until an error is no saved state, and Restore says so; package
// savefile keeps the last good one.
func Save[T any](w io.Writer, snapshot *Snapshot[T], origin Origin, text func(T) string) error {
	if snapshot.ResourceVersion() == "" {
		return ErrNotSynced
	}
	if snapshot.incomplete {
		return ErrUndecoded
	}
	s := encoder{writer: w, buf: make([]byte, 0, chunk), table: crc32.MakeTable(crc32.Castagnoli)}
	s.raw(saveMagic)
	s.number(saveFormat, 4)
	for _, field := range origin.fields() {
		s.string(field.value)
	}
	s.string(snapshot.ResourceVersion())
	s.number(uint64(snapshot.Len()), 8)
	s.checksum()
	for object := range snapshot.All() {
		if s.string(text(object)); s.err != nil {
			break
		}
	}
	s.checksum()
	s.flush()
	return s.err
}

// encoder writes the format of Save. It keeps the first error.
type encoder struct {
	writer io.Writer
	buf    []byte // not written yet
	sum    uint32 // of what was written
	table  *crc32.Table
	err    error
}

func (s *encoder) string(text string) {
	if len(text) > maxText && s.err == nil {
		s.err = ErrTextTooLong
	}
	s.number(uint64(len(text)), 4)
	s.raw(text)
}

func (s *encoder) number(n uint64, size int) {
	for range size {
		s.raw(string([]byte{byte(n)}))
		n >>= 8
	}
}

func (s *encoder) raw(text string) {
	for s.err == nil && text != "" {
		n := min(len(text), cap(s.buf)-len(s.buf))
		s.buf = append(s.buf, text[:n]...)
		if text = text[n:]; len(s.buf) == cap(s.buf) {
			s.flush()
		}
	}
}

func (s *encoder) checksum() {
	s.number(uint64(crc32.Update(s.sum, s.table, s.buf)), 4)
}

func (s *encoder) flush() {
	if s.err != nil {
		return
	}
	s.sum = crc32.Update(s.sum, s.table, s.buf)
	n, err := s.writer.Write(s.buf)
	if s.err = err; err == nil && n < len(s.buf) {
		s.err = io.ErrShortWrite
	}
	s.buf = s.buf[:0]
}
