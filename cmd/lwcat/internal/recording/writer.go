package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	maxFrame   = 64 << 10    // bytes; more of an event or of a list come in several frames
	flushEvery = time.Second // and this is how long what has come may wait to be written
)

// Writer writes a recording. All methods may run concurrently.
type Writer struct {
	out     io.Writer
	start   time.Time
	onError func(error)
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	lines   []byte // whole ones, to be written
	written int64  // of whole lines, in bytes
	streams int
	open    map[*response]struct{}
	err     error // the first one; nothing is written after it
}

// Create begins a recording in a new file, which only its owner may read: what it holds may be secret. An existing file is
// refused, unless overwrite; pipes and devices are written to. fail is called, once, when the file cannot be written any more.
func Create(path string, overwrite bool, fail func(error)) (*Writer, error) {
	flags := os.O_WRONLY | os.O_CREATE
	special := false
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		special = true
	case overwrite:
		flags |= os.O_TRUNC
	default:
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if os.IsExist(err) {
		return nil, fmt.Errorf("%s is there already: name another file, or add --overwrite", path)
	}
	if err != nil {
		return nil, err
	}
	if overwrite && !special { // a pipe or a device, as /dev/null, has modes of its own, which others rely on
		if err := file.Chmod(0o600); err != nil {
			_ = file.Close()
			return nil, err
		}
	}
	w := NewWriter(file, fail)
	if err := w.Flush(); err != nil { // at once, as what cannot be written at all is better known now
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// NewWriter begins a recording. What out offers of Close and of an os.File's Truncate is used.
func NewWriter(out io.Writer, fail func(error)) *Writer {
	w := &Writer{
		out: out, start: time.Now(), onError: fail, open: map[*response]struct{}{},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.writeEntry(Header{Format: formatName, Version: formatVersion, Lwcat: version(), Start: w.start})
	go w.flushLoop()
	return w
}

// version is that of the program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Follow notes that a collection is followed from here.
func (w *Writer) Follow(c Collection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeEntry(entry{At: w.now(), Kind: kindFollow, Collection: &c})
}

func (w *Writer) now() int64 { return int64(time.Since(w.start)) }

// writeEntry adds a line.
func (w *Writer) writeEntry(value any) {
	if w.err != nil {
		return
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // which the types do not allow
		w.fail(err)
		return
	}
	if w.lines = append(w.lines, text.Bytes()...); len(w.lines) >= maxFrame {
		w.write()
	}
}

// write writes what is to be written. A line that has not come through whole is taken back, where that can be.
func (w *Writer) write() {
	if w.err != nil || len(w.lines) == 0 {
		return
	}
	n, err := w.out.Write(w.lines)
	w.written += int64(bytes.LastIndexByte(w.lines[:n], '\n') + 1)
	w.lines = w.lines[:0]
	if err != nil {
		if file, ok := w.out.(interface{ Truncate(int64) error }); ok {
			_ = file.Truncate(w.written) // a pipe or a device has no length
		}
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	w.err = err
	w.onError(err)
}

// flushLoop writes once a second what has come.
func (w *Writer) flushLoop() {
	defer close(w.done)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			_ = w.Flush() // fail tells
		}
	}
}

// Flush writes what has come.
func (w *Writer) Flush() error { return w.flush(false) }

func (w *Writer) flush(last bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.open {
		n := len(s.pending)
		if !last {
			n = completeRunes(s.pending)
		}
		w.writeFrame(s, n, s.watch)
	}
	w.write()
	return w.err
}

// Close ends the recording. It returns the first error that there was.
func (w *Writer) Close() error {
	close(w.stop)
	<-w.done
	err := w.flush(true)
	if file, ok := w.out.(io.Closer); ok {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	return err
}
