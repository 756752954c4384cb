package recording

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// scriptedTransport answers each request with a scripted body.
type scriptedTransport struct {
	after time.Duration // delay before the response
	err   error         // returned instead of a response
	says  []timedText
	end   error // error at the end of the body; nil means io.EOF
}

// timedText is a string that arrives after a delay.
type timedText struct {
	after time.Duration
	text  string
}

func (s *scriptedTransport) Open(ctx context.Context, _ *lw.Request) (*lw.Response, error) {
	time.Sleep(s.after)
	if s.err != nil {
		return nil, s.err
	}
	return &lw.Response{ReadCloser: &scriptedBody{scriptedTransport: s, ctx: ctx}}, nil
}

type scriptedBody struct {
	*scriptedTransport
	ctx  context.Context
	next int
}

func (b *scriptedBody) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	if b.next == len(b.says) {
		if b.end == nil {
			return 0, io.EOF
		}
		return 0, b.end
	}
	say := b.says[b.next]
	time.Sleep(say.after)
	b.next++
	return copy(p, say.text), nil
}

func (b *scriptedBody) Close() error { return nil }

// memoryFile is a file in memory. Close does nothing.
type memoryFile struct {
	mu       sync.Mutex
	text     bytes.Buffer
	capacity int // size limit in bytes; 0 means no limit
}

func (s *memoryFile) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.capacity > 0 && s.text.Len()+len(p) > s.capacity {
		n, _ := s.text.Write(p[:s.capacity-s.text.Len()])
		return n, errDiskFull
	}
	return s.text.Write(p)
}

func (s *memoryFile) Close() error { return nil }

func (s *memoryFile) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

type fullDisk struct{}

func (fullDisk) Error() string { return "no space left" }

var errDiskFull error = fullDisk{}

func watchOf(path string) *lw.Request {
	return &lw.Request{Path: path, Query: "watch=1&resourceVersion=5&timeoutSeconds=300", Watch: true}
}

func listOf(path string) *lw.Request {
	return &lw.Request{Path: path, Query: "limit=500&resourceVersion=0", Accept: "application/json"}
}

// read reads a body to its end. It returns the text, the arrival time of each part, and the final error.
func read(t *testing.T, began time.Time, body io.ReadCloser) (text string, times []time.Duration, end error) {
	t.Helper()
	buffer := make([]byte, 300<<10)
	for {
		n, err := body.Read(buffer)
		text += string(buffer[:n])
		if n > 0 {
			times = append(times, time.Since(began))
		}
		if err != nil {
			require.NoError(t, body.Close())
			return text, times, err
		}
	}
}

// record records one request until its response ends. It returns the text and the final error.
func record(t *testing.T, w *Writer, req *lw.Request, s *scriptedTransport) (text string, end error) {
	t.Helper()
	body, err := w.Transport(s).Open(t.Context(), req)
	if err != nil {
		return "", err
	}
	text, _, end = read(t, time.Now(), body)
	return text, end
}

func begin(t *testing.T) (*Writer, *memoryFile) {
	out := new(memoryFile)
	return NewWriter(out, func(err error) { t.Errorf("the recording failed: %v", err) }), out
}

// load reads a complete recording.
func load(t *testing.T, text string) *Recording {
	t.Helper()
	r, err := Read(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	require.NoError(t, r.Broken)
	return r
}
