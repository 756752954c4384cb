package lw

import (
	"context"
	"io"
)

// Trace contains functions that a stream calls, for metrics and logs. Any function may be nil. The stream waits until a
// function returns. A Trace may serve several streams if its functions are safe for concurrent use.
type Trace struct {
	// Open is called before a request.
	Open func(req *Request)
	// Opened is called when the response arrives or the request fails. err is nil if the request succeeded.
	Opened func(req *Request, err error)
	// Read is called after each read of a response body. bytes is the number of bytes of that read, after
	// decompression.
	Read func(bytes int)
	// Frame is called for each watch event and each list item. The type of a list item is Added. bytes is the size of
	// the encoded object.
	Frame func(t EventType, bytes int)
	// Page is called at the end of each page of a list.
	Page func(meta ListMeta)
	// Event is called for each event, before the stream yields it. If ctx is done, the stream may not yield it. Object is
	// nil in events without an object. A cache.Informer also reports the events of a restored state, so that [State.After]
	// returns the state of the store.
	Event func(event Event[Keyed])
	// Switched is called when transport/fallback switches to its other transport. cause is the failure of the transport
	// that was in use.
	Switched func(cause error)
	// Redirected is called when a request is redirected to another origin, for example "https://k8s.example:443". The
	// new request has no credentials. The transport may call Redirected in another goroutine.
	Redirected func(origin string)
	// Stopped is called when the stream ends.
	Stopped func()
}

// WithTrace returns a context with a trace for requests and streams. It replaces any trace that ctx already has.
func WithTrace(ctx context.Context, trace *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

type traceKey struct{}

// ContextTrace returns the trace of ctx, or a Trace without functions if ctx has none. It never returns nil. A
// Transport calls ContextTrace to find the trace of its caller.
func ContextTrace(ctx context.Context) *Trace {
	if trace, ok := ctx.Value(traceKey{}).(*Trace); ok && trace != nil {
		return trace
	}
	return new(Trace)
}

// open sends a request over transport. It calls the trace's functions Open and Opened, and lets each read of the body
// call Read.
func (t *Trace) open(ctx context.Context, transport Transport, req *Request) (*Response, error) {
	if t.Open != nil {
		t.Open(req)
	}
	response, err := transport.Open(ctx, req)
	if t.Opened != nil {
		t.Opened(req, err)
	}
	if err == nil && t.Read != nil {
		response.ReadCloser = &tracedBody{ReadCloser: response.ReadCloser, read: t.Read}
	}
	return response, err
}

// tracedBody is a response body that reports each read to a trace.
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

func (t *Trace) frame(eventType EventType, scanned *Scanned) {
	if t.Frame != nil {
		t.Frame(eventType, len(scanned.body))
	}
}
