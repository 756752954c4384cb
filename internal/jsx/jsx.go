//go:build js

// Package jsx is the only package that calls JavaScript. The functions of wasm/glue.js open, read and hold its byte streams, so
// that only numbers and bytes cross. [Warn] writes to the console and needs no glue.
package jsx

import (
	"context"
	"errors"
	"sync"
	"unsafe"
)

// Each of these is a function of wasm/glue.js. A text that is passed to one is copied there before it returns.

//go:wasmimport listwatch open
func open(url string) (id int32)

//go:wasmimport listwatch add
func add(id int32, name, value string)

//go:wasmimport listwatch fetch
func fetch(id int32, credentials string)

//go:wasmimport listwatch socket
func socket(id int32, limit float64)

//go:wasmimport listwatch state
func state(id int32) int32

//go:wasmimport listwatch read
func read(id int32, p unsafe.Pointer, n int32) int32

//go:wasmimport listwatch text
func text(id int32, what int32, p unsafe.Pointer, n int32) int32

//go:wasmimport listwatch close
func closeStream(id int32)

// What read and state answer in place of a number of bytes, a status or a code.
const (
	pending = -1 // the stream will be woken
	failed  = -2
	tooMuch = -3 // more than the limit is held, or came at once
	lost    = -4 // it was open, and what came is not there
)

// What text tells.
const (
	failure    = 0
	retryAfter = 1
)

// ErrLimit says that a message, or what had come and was not read, was larger than the limit of a socket.
var ErrLimit = errors.New("jsx: more than the limit came over the WebSocket")

// ErrLost says that a WebSocket was opened and closed again by the server, and that the browser kept back what came.
var ErrLost = errors.New("jsx: what came over the WebSocket was lost")

// Failure says in the host's own words why a request or a stream failed.
type Failure struct{ Text string }

func (f *Failure) Error() string { return f.Text }

// Stream is a response's body, or the messages of a WebSocket. One goroutine uses it at a time.
type Stream struct {
	id    int32
	ready chan struct{}
}

var (
	mu      sync.Mutex
	streams = map[int32]*Stream{}
)

// wake tells the goroutine that waits for a stream to look again.
//
//go:wasmexport listwatch_wake
func wake(id int32) {
	mu.Lock()
	s := streams[id]
	mu.Unlock()
	if s == nil {
		return
	}
	select {
	case s.ready <- struct{}{}:
	default: // it has not looked since
	}
}

// NewStream returns a stream for a URL, which [Stream.Fetch] or [Stream.Dial] opens. It has to be closed.
func NewStream(url string) *Stream {
	s := &Stream{id: open(url), ready: make(chan struct{}, 1)}
	mu.Lock()
	streams[s.id] = s
	mu.Unlock()
	return s
}

// Add adds a header to a request, or, without a name, a subprotocol to a WebSocket's.
func (s *Stream) Add(name, value string) { add(s.id, name, value) }

// Fetch makes a request, and returns the status of the answer. credentials is fetch's option of that name; "" leaves it out.
func (s *Stream) Fetch(ctx context.Context, credentials string) (status int, err error) {
	fetch(s.id, credentials)
	return s.opened(ctx)
}

// Dial opens a WebSocket, which may hold so many bytes that are not read.
func (s *Stream) Dial(ctx context.Context, limit int64) error {
	socket(s.id, float64(limit))
	_, err := s.opened(ctx)
	return err
}

// RetryAfter is the header of that name, or "" where the page may not see it.
func (s *Stream) RetryAfter() string { return s.text(retryAfter) }

// Failure is why the stream ended, as far as the host tells; for a WebSocket the closing reason.
func (s *Stream) Failure() string { return s.text(failure) }

// Code is the code that a WebSocket was closed with, or the status of a response.
func (s *Stream) Code() int { return int(state(s.id)) }

// Read reads what has come, or waits. io.EOF is not its business: it returns 0 bytes at the end of a body, and whenever a
// WebSocket was closed.
func (s *Stream) Read(ctx context.Context, p []byte) (int, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		switch n := read(s.id, unsafe.Pointer(unsafe.SliceData(p)), int32(len(p))); n {
		case pending:
			if err := s.wait(ctx); err != nil {
				return 0, err
			}
		case failed:
			return 0, &Failure{Text: s.Failure()}
		case tooMuch:
			return 0, ErrLimit
		default:
			return int(n), nil
		}
	}
}

// Close ends the request or the WebSocket, and frees what is held for it. It may be called again, and from elsewhere.
func (s *Stream) Close() {
	mu.Lock()
	delete(streams, s.id)
	mu.Unlock()
	closeStream(s.id)
	select {
	case s.ready <- struct{}{}: // for a Read that waits
	default:
	}
}

func (s *Stream) opened(ctx context.Context) (int, error) {
	for {
		switch status := state(s.id); status {
		case pending:
			if err := s.wait(ctx); err != nil {
				return 0, err
			}
		case failed:
			return 0, &Failure{Text: s.Failure()}
		case lost:
			return 0, ErrLost
		default:
			return int(status), nil
		}
	}
}

func (s *Stream) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Stream) text(what int32) string {
	n := text(s.id, what, nil, 0)
	if n == 0 {
		return ""
	}
	p := make([]byte, n)
	return string(p[:text(s.id, what, unsafe.Pointer(unsafe.SliceData(p)), n)])
}
