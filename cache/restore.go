package cache

import (
	"context"
	"hash/crc32"
	"io"
	"slices"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// savedState contains the objects that Restore has read. The next run replays them.
type savedState[T any] struct {
	version string
	objects []T
	partial bool // the collection has other objects that are unknown
}

// Restore reads a state that [Save] wrote. The next run first yields this state as a list that ends with [lw.Restored],
// without any request. It then watches from the saved resourceVersion. If that resourceVersion has expired, or if the
// saved store had to relist, it relists and yields only the differences. The saved state is [lw.Stale] until the server
// confirms it. origin must equal the origin passed to Save.
//
// parse decodes one saved object. text is valid only during the call. For *lw.Object, use [lw.ParseObject].
//
// The error matches [ErrForeign], [ErrCorrupt] or the error that the reader returned. After an error the reflector is
// unchanged. Restore panics while the reflector runs.
func (r *Reflector[T]) Restore(from io.Reader, origin string, parse func(text []byte) (T, error)) error {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: Restore called while the Reflector is running")
	}
	defer r.running.Store(false)
	in := decoder{reader: from, buf: make([]byte, chunk), table: crc32.MakeTable(crc32.Castagnoli)}
	version, count, err := in.header(r.store.from.fields(origin))
	if err != nil {
		return err
	}
	state := &savedState[T]{version: version, objects: make([]T, 0, min(count, chunk))}
	for range count {
		text, err := in.string()
		if err != nil {
			return err
		}
		object, err := parse(text)
		if err != nil {
			return &restoreError{reason: errUnreadable, detail: "object " + strconv.Itoa(len(state.objects)), err: err}
		}
		state.objects = append(state.objects, object)
	}
	if err := in.checksum(); err != nil {
		return err
	}
	if err := in.expectEnd(); err != nil {
		return err
	}
	r.restored = state
	return nil
}

// RestoreObjects restores objects that were not saved with [Save]. See [Reflector.Restore]. version is the
// resourceVersion of the list to which the objects belong. It must come from the same server; see
// [lw.Held.ResourceVersion].
func (r *Reflector[T]) RestoreObjects(version string, objects []T) {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: RestoreObjects called while the Reflector is running")
	}
	defer r.running.Store(false)
	r.restored = &savedState[T]{version: version, objects: slices.Clone(objects)}
}

// ResumeFrom makes the next run watch from a resourceVersion without listing the objects that exist at that time. The
// store then contains only objects that have changed since. ResumeFrom panics while the reflector runs.
func (r *Reflector[T]) ResumeFrom(version string) {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: ResumeFrom called while the Reflector is running")
	}
	defer r.running.Store(false)
	r.restored = &savedState[T]{version: version, partial: true}
}

// Restore is like [Reflector.Restore]. The handlers receive the restored objects. Restore panics while the informer
// runs.
func (i *Informer[T]) Restore(from io.Reader, origin string, parse func(text []byte) (T, error)) error {
	return i.reflector.Restore(from, origin, parse)
}

// replay yields the restored state as a list that ends with [lw.Restored]. It also reports these events to the trace, so
// that metrics show a stale state while the server does not answer. It returns false if the run must end.
func (r *Reflector[T]) replay(ctx context.Context, yield func(lw.Event[T]) bool) bool {
	trace := lw.ContextTrace(ctx)
	send := func(event lw.Event[T]) bool {
		report(trace, &event)
		return yield(event) && ctx.Err() == nil
	}
	if ctx.Err() != nil {
		return false
	}
	if !send(lw.Event[T]{Type: lw.ListStarted}) {
		return false
	}
	for _, object := range r.restored.objects {
		if !send(lw.Event[T]{Type: lw.Added, Object: object}) {
			return false
		}
	}
	r.store.partial = r.restored.partial
	proceed := send(lw.Event[T]{Type: lw.Restored, ResourceVersion: r.restored.version})
	if r.restored.version == "" { // the saved store had to relist, see Save
		r.store.mu.Lock()
		r.store.setDistrusted()
		r.store.mu.Unlock()
	}
	r.restored = nil
	return proceed
}

// decoder reads the output of an encoder.
type decoder struct {
	reader   io.Reader
	buf      []byte // size depends on the data read, not on the declared length
	pos, end int    // the unread bytes are buf[pos:end]
	sum      uint32 // checksum of the bytes before pos
	table    *crc32.Table
}

// header reads the header and returns its resourceVersion and number of objects. It returns an error if the saved
// origin or a saved selector differs from the fields in origin.
func (r *decoder) header(origin [originFields]originField) (version string, count uint64, err error) {
	magic, err := r.next(len(saveMagic))
	if err != nil {
		return "", 0, err
	}
	if string(magic) != saveMagic {
		return "", 0, corruptError("not a saved state")
	}
	format, err := r.number(4)
	switch {
	case err != nil:
		return "", 0, err
	case format > saveFormat:
		return "", 0, &restoreError{reason: errNewerFormat, detail: strconv.FormatUint(format, 10) + "; the latest supported format is " + strconv.Itoa(saveFormat)}
	case format != saveFormat:
		return "", 0, corruptError("unknown format " + strconv.FormatUint(format, 10))
	}
	var saved [originFields]string
	for i := range saved {
		if saved[i], err = r.name(); err != nil {
			return "", 0, err
		}
	}
	if version, err = r.name(); err != nil {
		return "", 0, err
	}
	if count, err = r.number(8); err != nil {
		return "", 0, err
	}
	if err = r.checksum(); err != nil {
		return "", 0, err
	}
	for i, field := range origin {
		if saved[i] != field.value {
			return "", 0, originError(field.name, saved[i], field.value)
		}
	}
	return version, count, nil
}

func (r *decoder) name() (string, error) {
	text, err := r.string()
	return string(text), err
}

func (r *decoder) string() ([]byte, error) {
	size, err := r.number(4)
	if err != nil {
		return nil, err
	}
	if size > maxText {
		return nil, corruptError("string length " + strconv.FormatUint(size, 10))
	}
	return r.next(int(size))
}

func (r *decoder) number(size int) (n uint64, err error) {
	digits, err := r.next(size)
	for i := len(digits) - 1; i >= 0; i-- {
		n = n<<8 | uint64(digits[i])
	}
	return n, err
}

// checksum reads a checksum and verifies it against the data read so far.
func (r *decoder) checksum() error {
	sum := r.sum
	promised, err := r.number(4)
	if err == nil && promised != uint64(sum) {
		err = corruptError("checksum mismatch")
	}
	return err
}

// expectEnd returns an error if the input does not end at the current position.
func (r *decoder) expectEnd() error {
	if r.pos == r.end {
		switch err := r.fill(); err {
		case io.EOF:
			return nil
		case nil:
		default:
			return &restoreError{reason: err}
		}
	}
	return corruptError("data after the last checksum")
}

// next returns the next n bytes, which are valid until the next call.
func (r *decoder) next(n int) ([]byte, error) {
	for r.end-r.pos < n {
		switch err := r.fill(); err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil, &restoreError{reason: errTruncated}
		default:
			return nil, &restoreError{reason: err}
		}
	}
	part := r.buf[r.pos : r.pos+n]
	r.pos += n
	r.sum = crc32.Update(r.sum, r.table, part)
	return part, nil
}

// fill reads at least one byte into the buffer, or returns the error of the reader.
func (r *decoder) fill() error {
	if r.pos > 0 {
		r.pos, r.end = 0, copy(r.buf, r.buf[r.pos:r.end])
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for range 100 {
		n, err := r.reader.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			return nil // the next Read returns the error again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
