package cache

import (
	"errors"
	"hash/crc32"
	"io"
)

// These constants define the format of a saved state. Numbers are little-endian. A string is its length in 4 bytes,
// followed by its bytes.
//
//	magic         16 bytes
//	format        4 bytes: 1; other formats may differ after this field
//	header        strings: origin, label selector, field selector, shard selector, resourceVersion (empty if the
//	              store must relist)
//	count         8 bytes: the number of objects
//	checksum      4 bytes: CRC-32C of all preceding bytes
//	objects       strings
//	checksum      4 bytes: CRC-32C of all preceding bytes
//
// The separate checksum of the header detects a damaged origin before the origin is compared and the objects are read.
const (
	saveMagic  = "listwatch state\n"
	saveFormat = 1
	maxText    = 1<<30 - 1 // maximum length of a string, in bytes
	chunk      = 64 << 10  // buffer size, in bytes
)

var (
	// errNotSynced reports that a snapshot has no resourceVersion because the first list was not complete.
	errNotSynced = errors.New("cache: the snapshot has no resourceVersion because the first list is not complete; save a later snapshot")
	// errUndecoded reports that the store lacks objects that could not be decoded. See [Store.DecodeErrors]. A run that
	// resumes from such a snapshot would never receive these objects.
	errUndecoded = errors.New("cache: the snapshot lacks objects that could not be decoded; see Store.DecodeErrors")
	// errTextTooLong reports that an object or an origin is 1 GiB or longer.
	errTextTooLong = errors.New("cache: cannot save a string of 1 GiB or more")
)

// Save writes a snapshot in a format that [Reflector.Restore] reads. The func text returns the string that Save writes
// for an object. For objects of [lw.RawCodec] and [lw.Project], use (*lw.Object).Raw. Save does not encrypt the
// objects, even if they are Secrets.
//
// origin identifies the cluster, the resource and the fields that the codec keeps, for example "https://127.0.0.1:6443
// shop/pods". Restore rejects a state with another origin or other selectors. If the cluster may be rebuilt at the same
// address, add the UID of the kube-system namespace. Change origin whenever the codec changes, because the server does
// not resend unchanged objects.
//
// A store relists after resourceVersions ran backwards, for example because a backup was restored. If the store has yet
// to do so, Save records it, and the run after Restore relists.
//
// Save streams the objects and does not buffer the whole state. It returns an error if w fails, if the first list is
// not complete, or if the store lacks objects that could not be decoded. Restore rejects incomplete output. Package
// savefile keeps the last complete file.
func Save[T any](w io.Writer, snapshot *Snapshot[T], origin string, text func(T) string) error {
	version := snapshot.ResourceVersion()
	switch {
	case version == "":
		return errNotSynced
	case snapshot.distrusted:
		version = "" // after Restore, the next run starts with a list
	case snapshot.incomplete:
		return errUndecoded
	}
	s := encoder{writer: w, buf: make([]byte, 0, chunk), table: crc32.MakeTable(crc32.Castagnoli)}
	s.raw(saveMagic)
	s.number(saveFormat, 4)
	for _, field := range snapshot.store.from.fields(origin) {
		s.string(field.value)
	}
	s.string(version)
	s.number(uint64(snapshot.Len()), 8)
	s.checksum()
	for object := range snapshot.All() {
		s.string(text(object))
		if s.err != nil {
			break
		}
	}
	s.checksum()
	s.flush()
	return s.err
}

// encoder writes a saved state. It records the first error.
type encoder struct {
	writer io.Writer
	buf    []byte // unwritten bytes
	sum    uint32 // checksum of the bytes written so far
	table  *crc32.Table
	err    error
}

func (s *encoder) string(text string) {
	if len(text) > maxText && s.err == nil {
		s.err = errTextTooLong
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
		text = text[n:]
		if len(s.buf) == cap(s.buf) {
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
	s.err = err
	if err == nil && n < len(s.buf) {
		s.err = io.ErrShortWrite
	}
	s.buf = s.buf[:0]
}
