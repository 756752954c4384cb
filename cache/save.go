package cache

import (
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

// These constants define the format of a saved state. Numbers are little-endian. A string is its length in 4 bytes,
// followed by its bytes.
//
//	magic         16 bytes
//	format        4 bytes: 1; other formats may differ after this field
//	header        strings: origin, label selector, field selector, resourceVersion (empty if the store must relist)
//	count         8 bytes: the number of objects
//	checksum      4 bytes: CRC-32C of all preceding bytes
//	objects       strings
//	checksum      4 bytes: CRC-32C of all preceding bytes
//
// The header has its own checksum, so that a damaged origin is not mistaken for another origin.
const (
	saveMagic  = "listwatch state\n"
	saveFormat = 1
	maxText    = 1<<30 - 1 // maximum length of a string, in bytes; it fits an int of 32 bits
	chunk      = 64 << 10  // maximum size of a read or write, in bytes
)

var (
	// errNotSynced reports that a snapshot has no resourceVersion because the first list was not complete.
	errNotSynced = errors.New("cache: the snapshot has no resourceVersion because the first list is not complete; save a later snapshot")
	// errUndecoded reports that the store lacks objects that could not be decoded. See [Store.DecodeErrors]. A run that
	// resumed from such a snapshot would never receive these objects, because the server sends only later changes.
	errUndecoded = errors.New("cache: the snapshot lacks objects that could not be decoded; see Store.DecodeErrors")
	// errTextTooLong reports that a string, such as an object or the origin, is 1 GiB or longer.
	errTextTooLong = errors.New("cache: cannot save a string of 1 GiB or more")
)

// originFields lists the fields that identify the collection in a saved state, in the order of the header.
var originFields = [3]string{"origin", "label selector", "field selector"}

// collection contains the values of originFields. A store knows its selectors, but the callers of Save and Restore must
// pass the origin.
type collection [len(originFields)]string

// with returns a copy of c with the given origin.
func (c collection) with(origin string) collection {
	c[0] = origin
	return c
}

// Save writes a snapshot in a format that [Informer.Restore] reads. The func text returns the string that Save writes
// for an object. For objects of [lw.RawCodec] and [lw.Project], use (*lw.Object).Raw. Save does not encrypt the
// objects, even if they are Secrets.
//
// origin identifies the cluster, the resource and the fields that the codec keeps, for example "https://127.0.0.1:6443
// shop/pods". Restore rejects a state with another origin or other selectors. If the cluster may be rebuilt at the same
// address, add the UID of the kube-system namespace. Change origin whenever the codec changes, because the server does
// not resend unchanged objects.
//
// After resourceVersions ran backwards, for example because a backup was restored, a store must relist. After
// [Informer.ResumeFrom], it lacks the objects that have not changed since. If the store has not relisted yet, Save
// records this, and the run after Restore relists.
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
		version = "" // after Restore, the next run starts with a list, so missing objects do not matter
	case snapshot.incomplete:
		return errUndecoded
	}
	s := encoder{writer: w, buf: make([]byte, 0, chunk), table: crc32.MakeTable(crc32.Castagnoli)}
	s.raw(saveMagic)
	s.number(saveFormat, 4)
	for _, value := range snapshot.store.from.with(origin) {
		s.string(value)
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
		n := min(len(text), chunk-len(s.buf))
		s.buf = append(s.buf, text[:n]...)
		text = text[n:]
		if len(s.buf) == chunk {
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

// savedState contains the objects that Restore has read. The next run replays them.
type savedState[T any] struct {
	version string
	objects []T
	partial bool // the collection may contain other objects; see Informer.ResumeFrom
}

// Restore reads a state that [Save] wrote. The next run first yields this state as a list that ends with [lw.Restored],
// without any request. It then watches from the saved resourceVersion. If that resourceVersion has expired, or if the
// saved store had to relist, the run relists and yields only the differences. The saved state is [lw.Stale] until the
// server confirms it. origin must equal the origin passed to Save.
//
// Restore reads each object separately, so a file should be buffered, for example by a bufio.Reader.
//
// parse decodes one saved object. text is valid only during the call. For *lw.Object, use [lw.ParseObject].
//
// The error matches [ErrForeign], [ErrCorrupt] or the error that the reader returned. After an error the informer is
// unchanged. Restore panics while the informer runs.
func (i *Informer[T]) Restore(from io.Reader, origin string, parse func(text []byte) (T, error)) error {
	defer i.acquire("Restore")()
	in := decoder{reader: from, table: crc32.MakeTable(crc32.Castagnoli)}
	version, count := in.header(i.store.from.with(origin))
	state := &savedState[T]{version: version, objects: make([]T, 0, min(count, chunk))} // a crafted count may be huge
	for range count {
		text := in.string()
		if in.err != nil {
			return in.err
		}
		object, err := parse(text)
		if err != nil {
			detail := "object " + strconv.Itoa(len(state.objects)) + ": " + err.Error()
			return unusable("it contains an object that cannot be decoded: "+detail, errors.Join(ErrCorrupt, err))
		}
		state.objects = append(state.objects, object)
	}
	in.checksum()
	if in.err == nil {
		i.restored = state
	}
	return in.err
}

// RestoreObjects is like [Informer.Restore], but takes the objects from the caller instead of from the output of
// [Save]. version is the resourceVersion of the list that contained the objects. It must come from the same server; see
// [lw.Held.ResourceVersion].
func (i *Informer[T]) RestoreObjects(version string, objects []T) {
	defer i.acquire("RestoreObjects")()
	i.restored = &savedState[T]{version: version, objects: slices.Clone(objects)}
}

// ResumeFrom makes the next run watch from a resourceVersion without listing the objects that exist at that time. The
// store then contains only objects that have changed since. ResumeFrom panics while the informer runs.
func (i *Informer[T]) ResumeFrom(version string) {
	defer i.acquire("ResumeFrom")()
	i.restored = &savedState[T]{version: version, partial: true}
}

// An error from [Informer.Restore] matches ErrForeign, ErrCorrupt or the error that the reader returned.
var (
	// ErrForeign reports that a state was saved with another origin or other selectors. See [Save].
	ErrForeign = errors.New("it belongs to another collection")
	// ErrCorrupt reports that a saved state is damaged, truncated, in a newer format, or contains an object that parse
	// rejects.
	ErrCorrupt = errors.New("it is damaged")
)

// unusable builds the error that Restore returns. reason never contains object data.
func unusable(reason string, cause error) error {
	return &wrapped{"cache: cannot use the saved state: " + reason, cause}
}

// decoder reads the output of an encoder. It records the first error. After that, it returns only zero values.
type decoder struct {
	reader io.Reader
	buf    []byte // holds the result of next
	sum    uint32 // checksum of the bytes read so far
	table  *crc32.Table
	err    error
}

func (r *decoder) fail(reason string, err error) {
	if r.err == nil {
		r.err = unusable(reason, err)
	}
}

func (r *decoder) failCorrupt(detail string) { r.fail(ErrCorrupt.Error()+": "+detail, ErrCorrupt) }

// header reads the header and returns its resourceVersion and number of objects. It fails if the saved origin or a saved
// selector differs from the one in current.
func (r *decoder) header(current collection) (version string, count uint64) {
	if string(r.next(len(saveMagic))) != saveMagic {
		r.failCorrupt("not a saved state")
	}
	if format := r.number(4); format != saveFormat {
		r.fail("it has format "+strconv.FormatUint(format, 10)+"; the latest supported format is "+strconv.Itoa(saveFormat), ErrCorrupt)
	}
	var saved collection
	for i := range saved {
		saved[i] = string(r.string())
	}
	version = string(r.string())
	count = r.number(8)
	r.checksum()
	for i, name := range originFields {
		if saved[i] != current[i] {
			r.fail(ErrForeign.Error()+": "+name+" was \""+saved[i]+"\", now \""+current[i]+"\"", ErrForeign)
		}
	}
	if r.err != nil {
		return "", 0
	}
	return version, count
}

func (r *decoder) string() []byte {
	size := r.number(4)
	if size > maxText {
		r.failCorrupt("string length " + strconv.FormatUint(size, 10))
	}
	return r.next(int(size))
}

func (r *decoder) number(size int) (n uint64) {
	for i, digit := range r.next(size) {
		n |= uint64(digit) << (8 * i)
	}
	return n
}

// checksum reads a checksum and verifies it against the data read so far.
func (r *decoder) checksum() {
	sum := r.sum // the value before number reads the checksum
	if r.number(4) != uint64(sum) {
		r.failCorrupt("checksum mismatch")
	}
}

// next returns the next n bytes, which are valid until the next call, or nil after an error. It reads them in parts,
// because a damaged length may be huge, and a buffer of that size could exhaust the memory.
func (r *decoder) next(n int) []byte {
	r.buf = r.buf[:0]
	for r.err == nil && len(r.buf) < n {
		end := len(r.buf)
		r.buf = slices.Grow(r.buf, chunk)[:end+min(n-end, chunk)]
		switch _, err := io.ReadFull(r.reader, r.buf[end:]); err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			r.fail("it is truncated", ErrCorrupt)
		default:
			r.fail(err.Error(), err)
		}
	}
	if r.err != nil {
		return nil
	}
	r.sum = crc32.Update(r.sum, r.table, r.buf)
	return r.buf
}
