package cache

import (
	"context"
	"hash/crc32"
	"io"
	"slices"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// savedState is a state that was read and not applied yet.
type savedState[T any] struct {
	version string
	objects []T
}

// Restore reads what [Save] wrote. The next run then begins with the state that was saved, told as a list, before any
// request is made; and goes on with a watch from its resource version, or with a list of which only the differences are
// told where that is too old. Until [lw.WatchStarted] or the next [lw.Synced] the store shows the past.
//
// parse makes an object of the text that was saved, which is valid only during the call: for *lw.Object it is
// [lw.ParseObject].
//
// An error is a *[RestoreError]; the reflector is then as it was before. Restore must not be called while the reflector
// runs.
func (r *Reflector[T]) Restore(from io.Reader, origin Origin, parse func(text []byte) (T, error)) error {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: a Reflector is restored while it runs")
	}
	defer r.running.Store(false)
	in := decoder{reader: from, buf: make([]byte, chunk), table: crc32.MakeTable(crc32.Castagnoli)}
	version, count, err := in.header(&origin)
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
			return &RestoreError{Reason: ErrCorrupt, Detail: "object " + strconv.Itoa(len(state.objects)), Err: err}
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

// RestoreObjects is [Reflector.Restore] for a state that was kept in another way: the objects of a collection, and the
// resource version up to which they have what happened, and with which the server can tell what followed: the same server, see
// [lw.Options.ResumeFrom].
func (r *Reflector[T]) RestoreObjects(version string, objects []T) {
	if !r.running.CompareAndSwap(false, true) {
		panic("cache: a Reflector is restored while it runs")
	}
	defer r.running.Store(false)
	r.restored = &savedState[T]{version: version, objects: slices.Clone(objects)}
}

// Restore is [Reflector.Restore], for an informer that is not running: its handlers are told of what was saved.
func (i *Informer[T]) Restore(from io.Reader, origin Origin, parse func(text []byte) (T, error)) error {
	return i.reflector.Restore(from, origin, parse)
}

// replay yields the restored state as a list. It returns false when the run is over.
func (r *Reflector[T]) replay(ctx context.Context, yield func(lw.Event[T]) bool) bool {
	send := func(event lw.Event[T]) bool { return ctx.Err() == nil && yield(event) }
	if !send(lw.Event[T]{Type: lw.ListStarted}) {
		return false
	}
	for _, object := range r.restored.objects {
		if !send(lw.Event[T]{Type: lw.Added, Object: object}) {
			return false
		}
	}
	if ctx.Err() != nil {
		return false
	}
	proceed := yield(lw.Event[T]{Type: lw.Synced, ResourceVersion: r.restored.version})
	r.restored = nil
	return proceed
}

// decoder reads the output of an encoder.
type decoder struct {
	reader   io.Reader
	buf      []byte // grows with what is read, never with what a length promises
	pos, end int    // of buf: used, and read
	sum      uint32 // of what was used
	table    *crc32.Table
}

// header reads the header and compares the origin.
func (r *decoder) header(origin *Origin) (version string, count uint64, err error) {
	magic, err := r.next(len(saveMagic))
	if err != nil {
		return "", 0, err
	}
	if string(magic) != saveMagic {
		return "", 0, corruptError("it does not begin as a saved state does")
	}
	format, err := r.number(4)
	switch {
	case err != nil:
		return "", 0, err
	case format > saveFormat:
		return "", 0, &RestoreError{Reason: ErrNewerFormat, Detail: "format " + strconv.FormatUint(format, 10) + ", and " + strconv.Itoa(saveFormat) + " is the latest known"}
	case format != saveFormat:
		return "", 0, corruptError("there is no format " + strconv.FormatUint(format, 10))
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
	for i, field := range origin.fields() {
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
		return nil, corruptError("a text of " + strconv.FormatUint(size, 10) + " bytes")
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

// checksum compares the checksum of the data with the one that follows.
func (r *decoder) checksum() error {
	sum := r.sum
	promised, err := r.number(4)
	if err == nil && promised != uint64(sum) {
		err = corruptError("the checksum is wrong")
	}
	return err
}

// expectEnd returns an error if more data follows.
func (r *decoder) expectEnd() error {
	if r.pos == r.end {
		switch err := r.fill(); err {
		case io.EOF:
			return nil
		case nil:
		default:
			return &RestoreError{Reason: err}
		}
	}
	return corruptError("more follows after its end")
}

// next returns the next n bytes, which are valid until the next call.
func (r *decoder) next(n int) ([]byte, error) {
	for r.end-r.pos < n {
		switch err := r.fill(); err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil, &RestoreError{Reason: ErrTruncated}
		default:
			return nil, &RestoreError{Reason: err}
		}
	}
	part := r.buf[r.pos : r.pos+n]
	r.pos += n
	r.sum = crc32.Update(r.sum, r.table, part)
	return part, nil
}

// fill reads more data into the buffer.
func (r *decoder) fill() error {
	if r.pos > 0 {
		r.pos, r.end = 0, copy(r.buf, r.buf[r.pos:r.end])
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for range 100 {
		n, err := r.reader.Read(r.buf[r.end:])
		if r.end += n; n > 0 {
			return nil // an error comes again with the next read
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
