package lw

import (
	"context"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/internal/tracing"
)

// Trace contains functions that are called during a stream, for metrics and logs. Any function may be nil. The
// functions block the stream while they run. A Trace may serve several streams if its functions are safe for concurrent
// use.
type Trace struct {
	Open         func(req *Request)            // a request is about to be made
	Opened       func(req *Request, err error) // its response arrived, or err says why not
	Read         func(bytes int)               // bytes of a response arrived, after decompression
	Frame        func(t EventType, bytes int)  // the object of a watch's event, as its type is on the wire, or a list's item, as Added, was read, of so many bytes of JSON
	Page         func(meta ListMeta)           // a page of a list was read to its end
	Bookmark     func(resourceVersion string)
	DecodeFailed func(*DecodeError)
	Synced       func(resourceVersion string) // a list is complete
	WatchStarted func(resourceVersion string) // a watch is open
	Interrupted  func(*Interruption)          // with the cause, the delay, and whether a list follows
	Switched     func(cause error)            // another transport is used from now on; cause is what was wrong with the one before
	Redirected   func(origin string)          // a request goes on to another origin, as "https://k8s.example:443", without credentials; the goroutine may be the transport's
	Stopped      func()                       // the stream is over: its context ended, or its caller or Options.StopOn ended it
}

// WithTrace returns a context with a trace for requests and streams. It replaces an earlier trace of ctx.
func WithTrace(ctx context.Context, trace *Trace) context.Context { return tracing.With(ctx, trace) }

// open sends a request over the transport.
func (t *Trace) open(ctx context.Context, transport Transport, req *Request) (io.ReadCloser, error) {
	if t.Open != nil {
		t.Open(req)
	}
	body, err := transport.Open(ctx, req)
	if t.Opened != nil {
		t.Opened(req, err)
	}
	if err == nil && t.Read != nil {
		body = &tracedBody{ReadCloser: body, read: t.Read}
	}
	return body, err
}

type tracedBody struct {
	io.ReadCloser
	read func(int)
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.read(n)
	}
	return n, err
}

func (b *tracedBody) Redact(text string) string { return redact.Body(b.ReadCloser, text) }

func (t *Trace) frame(eventType EventType, scanned *Scanned) {
	if t.Frame != nil {
		t.Frame(eventType, len(scanned.body))
	}
}

func (t *Trace) stopped() {
	if t.Stopped != nil {
		t.Stopped()
	}
}

func (t *Trace) page(meta ListMeta) {
	if t.Page != nil {
		t.Page(meta)
	}
}

// event reports an event of the stream, except for Added, Modified, Deleted and ListStarted.
func (t *Trace) event(eventType EventType, resourceVersion string, b *Interruption, undecoded *DecodeError) {
	switch {
	case eventType == DecodeFailed && t.DecodeFailed != nil:
		t.DecodeFailed(undecoded)
	case eventType == Bookmark && t.Bookmark != nil:
		t.Bookmark(resourceVersion)
	case eventType == Synced && t.Synced != nil:
		t.Synced(resourceVersion)
	case eventType == WatchStarted && t.WatchStarted != nil:
		t.WatchStarted(resourceVersion)
	case eventType == Interrupted && t.Interrupted != nil:
		t.Interrupted(b)
	}
}
