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
	maxFrame   = 64 << 10    // in bytes; larger events and lists are split into several frames
	flushEvery = time.Second // interval between writes to the file
)

// Writer writes a recording. It is safe for concurrent use.
type Writer struct {
	out     io.Writer
	start   time.Time
	onError func(error)
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	lines   []byte // complete lines that are not written yet
	written int64  // number of bytes in complete lines
	streams int
	open    map[*response]struct{}
	err     error // the first error; it stops all writes
}

// Create creates a recording that only its owner can read, because objects may be secret. Create returns an error if
// the file exists, unless the file is a pipe or a device. It calls fail once if a write fails later.
func Create(path string, fail func(error)) (*Writer, error) {
	flags := os.O_WRONLY
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		flags |= os.O_CREATE | os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if os.IsExist(err) {
		return nil, fmt.Errorf("%s already exists: name another file, or remove it", path)
	}
	if err != nil {
		return nil, err
	}
	w := NewWriter(file, fail)
	if err := w.Flush(); err != nil { // reports immediately if the file is not writable
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// NewWriter starts a recording. It uses the methods Close and Truncate of out if they exist.
func NewWriter(out io.Writer, fail func(error)) *Writer {
	w := &Writer{
		out: out, start: time.Now(), onError: fail, open: map[*response]struct{}{},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.writeEntry(Header{Format: formatName, Version: formatVersion, Lwcat: version(), Start: w.start})
	go w.flushLoop()
	return w
}

// version returns the version of lwcat.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Follow records that a collection is followed from now on.
func (w *Writer) Follow(c Collection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeEntry(entry{At: w.now(), Kind: kindFollow, Collection: &c})
}

func (w *Writer) now() int64 { return int64(time.Since(w.start)) }

// writeEntry adds a line to the recording.
func (w *Writer) writeEntry(value any) {
	if w.err != nil {
		return
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // these types can always be encoded
		w.fail(err)
		return
	}
	w.lines = append(w.lines, text.Bytes()...)
	if len(w.lines) >= maxFrame {
		w.write()
	}
}

// write writes the complete lines. After a failed write, it removes an incomplete line from a regular file.
func (w *Writer) write() {
	if w.err != nil || len(w.lines) == 0 {
		return
	}
	n, err := w.out.Write(w.lines)
	w.written += int64(bytes.LastIndexByte(w.lines[:n], '\n') + 1)
	w.lines = w.lines[:0]
	if err != nil {
		if file, ok := w.out.(interface{ Truncate(int64) error }); ok {
			_ = file.Truncate(w.written) // fails for pipes and devices
		}
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	w.err = err
	w.onError(err)
}

// flushLoop writes the recorded data once a second.
func (w *Writer) flushLoop() {
	defer close(w.done)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			_ = w.Flush() // the callback fail reports errors
		}
	}
}

// Flush writes the data recorded so far.
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

// Close ends the recording and closes the output. It returns the first error of the recording.
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
