package recording

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	maxData    = 64 << 10    // maximum number of response bytes in one entry
	flushEvery = time.Second // interval between writes to the file
)

// Writer writes a recording. It is safe for concurrent use.
type Writer struct {
	file    io.WriteCloser
	start   time.Time
	onError func(error)
	stop    chan struct{}
	done    chan struct{}

	mu      sync.Mutex
	out     *bufio.Writer
	streams int
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
		return nil, fmt.Errorf("%s already exists: specify another file, or remove it", path)
	}
	if err != nil {
		return nil, err
	}
	w := NewWriter(file, fail)
	if err := w.flush(); err != nil { // reports immediately if the file is not writable
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// NewWriter starts a recording in file. [Writer.Close] closes the file.
func NewWriter(file io.WriteCloser, fail func(error)) *Writer {
	w := &Writer{
		file: file, start: time.Now(), onError: fail, out: bufio.NewWriterSize(file, maxData),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.check(w.encode(Header{Format: formatName, Version: formatVersion, Start: w.start}))
	go w.flushLoop()
	return w
}

// Follow records that a collection is followed from now on.
func (w *Writer) Follow(c Collection) { w.add(entry{Kind: kindFollow, Collection: &c}) }

// add adds an entry with the current time. If the entry opens a request, add returns the number of the request.
func (w *Writer) add(e entry) (stream int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == kindOpen {
		w.streams++
		e.Stream = w.streams
	}
	if w.err == nil {
		e.At = int64(time.Since(w.start))
		w.check(w.encode(e))
	}
	return e.Stream
}

func (w *Writer) encode(value any) error {
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// check reports the first error to onError.
func (w *Writer) check(err error) {
	if err != nil && w.err == nil {
		w.err = err
		w.onError(err)
	}
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
			_ = w.flush() // onError receives the error
		}
	}
}

// flush writes the data recorded so far. It returns the first error of the recording.
func (w *Writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.check(w.out.Flush())
	}
	return w.err
}

// Close ends the recording and closes the file. It returns the first error of the recording.
func (w *Writer) Close() error {
	close(w.stop)
	<-w.done
	return errors.Join(w.flush(), w.file.Close())
}

// Transport returns a transport that records the responses of another transport.
func (w *Writer) Transport(over lw.Transport) lw.Transport { return &recorder{w, over} }

type recorder struct {
	writer    *Writer
	transport lw.Transport
}

// Open implements [lw.Transport].
func (r *recorder) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	stream := r.writer.add(entry{Kind: kindOpen, Path: req.Path, Query: req.Query, Watch: req.Watch})
	response, err := r.transport.Open(ctx, req)
	r.writer.add(entry{Kind: kindOpened, Stream: stream, Failure: newFailure(ctx, err)})
	if err != nil {
		return nil, err
	}
	response.ReadCloser = &recordedBody{ReadCloser: response.ReadCloser, ctx: ctx, writer: r.writer, stream: stream}
	return response, nil
}

// recordedBody records a response body while it is read.
type recordedBody struct {
	io.ReadCloser
	ctx    context.Context
	writer *Writer
	stream int
	end    sync.Once
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		part := rest[:min(len(rest), maxData)]
		rest = rest[len(part):]
		e := entry{Kind: kindData, Stream: b.stream}
		if utf8.Valid(part) {
			e.Text = string(part)
		} else {
			e.Base64 = part
		}
		b.writer.add(e)
	}
	if err != nil {
		b.close(newFailure(b.ctx, err))
	}
	return n, err
}

func (b *recordedBody) Close() error {
	b.close(&failure{Kind: failedReader})
	return b.ReadCloser.Close()
}

// close records the end of the response once.
func (b *recordedBody) close(f *failure) {
	b.end.Do(func() { b.writer.add(entry{Kind: kindClosed, Stream: b.stream, Failure: f}) })
}
