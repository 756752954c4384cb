//go:build js

// Package jsx contains all calls to JavaScript. wasm/glue.js implements streams of bytes, so only numbers and bytes
// cross the boundary between Go and JavaScript. Go and JavaScript share one thread, so a call cannot block. It returns
// pending instead.
package jsx

import (
	"context"
	"errors"
	"io"
	"sync"
	"unsafe"
)

// wasm/glue.js implements these functions. The functions do not retain their arguments.

//go:wasmimport listwatch open
func open(url string) (id int32)

//go:wasmimport listwatch add
func add(id int32, name, value string)

//go:wasmimport listwatch fetch
func fetch(id int32, credentials string)

// The limit is a float64, because JavaScript would receive an int64 as a BigInt.
//
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

// These constants are the negative results of the functions read and state.
const (
	pending = -1 // no result yet; JavaScript calls wake when there is one
	failed  = -2
	tooMuch = -3 // the unread messages exceed the limit that was passed to Dial
	lost    = -4 // see ErrLost
)

// These constants select the string that the function text returns.
const (
	failure    = 0
	retryAfter = 1
	etag       = 2
)

// ErrLimit means that the unread messages of a WebSocket exceed the limit that was passed to Dial.
var ErrLimit = errors.New("jsx: WebSocket data exceeds the limit")

// ErrLost means that a WebSocket opened and closed, but the browser did not deliver its messages.
var ErrLost = errors.New("jsx: the browser lost the WebSocket messages")

// Failure is an error that the JavaScript host reported for a request or stream.
type Failure struct{ Text string }

func (f *Failure) Error() string { return f.Text }

// Stream is a response body, a WebSocket, or the host's answer to a question. It is not safe for concurrent use, except
// for Close.
type Stream struct {
	ctx   context.Context
	id    int32
	ready chan struct{}
}

var (
	mu      sync.Mutex
	streams = map[int32]*Stream{}
)

// wake unblocks the goroutine that waits for the stream with the given ID. Only JavaScript calls wake.
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
	default: // another wake-up is pending
	}
}

// NewStream returns an unopened stream for a URL. The caller opens it with [Stream.Fetch] or [Stream.Dial] and must
// close it. After ctx is done, all methods that block return the cause of ctx.
func NewStream(ctx context.Context, url string) *Stream {
	s := &Stream{ctx, open(url), make(chan struct{}, 1)}
	mu.Lock()
	streams[s.id] = s
	mu.Unlock()
	return s
}

// Add adds a header to the request. If name is empty, it adds a WebSocket subprotocol.
func (s *Stream) Add(name, value string) { add(s.id, name, value) }

// Fetch sends a request and returns the status code of the response. credentials is the credentials option of the
// JavaScript function fetch, or "" for its default.
func (s *Stream) Fetch(credentials string) (status int, err error) {
	fetch(s.id, credentials)
	return s.opened()
}

// Dial opens a WebSocket that buffers at most limit bytes of unread messages.
func (s *Stream) Dial(limit int64) error {
	socket(s.id, float64(limit))
	_, err := s.opened()
	return err
}

// RetryAfter returns the Retry-After header of the response, or "" if the page cannot read it.
func (s *Stream) RetryAfter() string { return s.text(retryAfter) }

// ETag returns the ETag header of the response, or "" if the page cannot read it.
func (s *Stream) ETag() string { return s.text(etag) }

// Failure returns the host's error message or the close reason of a WebSocket.
func (s *Stream) Failure() string { return s.text(failure) }

// Code returns the status code of a response or the close code of a WebSocket.
func (s *Stream) Code() int { return int(state(s.id)) }

// Read implements [io.Reader]. It returns io.EOF at the end of a body and after a WebSocket is closed.
func (s *Stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.wait(func() int32 { return read(s.id, unsafe.Pointer(unsafe.SliceData(p)), int32(len(p))) })
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Close cancels the request or closes the WebSocket, and frees the buffers. It may be called more than once and
// concurrently. It always returns nil.
func (s *Stream) Close() error {
	mu.Lock()
	delete(streams, s.id)
	mu.Unlock()
	closeStream(s.id)
	select {
	case s.ready <- struct{}{}: // unblocks Read
	default:
	}
	return nil
}

// opened blocks until the stream has a status code.
func (s *Stream) opened() (status int, err error) {
	return s.wait(func() int32 { return state(s.id) })
}

// wait calls poll until the result is not pending. Between two calls it blocks until JavaScript calls wake.
func (s *Stream) wait(poll func() int32) (int, error) {
	for {
		if s.ctx.Err() != nil {
			return 0, context.Cause(s.ctx)
		}
		switch n := poll(); n {
		case pending:
			select {
			case <-s.ready:
			case <-s.ctx.Done():
			}
		case failed:
			return 0, &Failure{Text: s.Failure()}
		case tooMuch:
			return 0, ErrLimit
		case lost:
			return 0, ErrLost
		default:
			return int(n), nil
		}
	}
}

// text returns the string for one of the constants failure, retryAfter and etag. It first asks for the length, so that
// Go can allocate the memory.
func (s *Stream) text(what int32) string {
	n := text(s.id, what, nil, 0)
	if n == 0 {
		return ""
	}
	p := make([]byte, n)
	return string(p[:text(s.id, what, unsafe.Pointer(unsafe.SliceData(p)), n)])
}
