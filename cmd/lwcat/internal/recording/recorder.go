package recording

import (
	"context"
	"io"
	"sync"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport returns a transport that records the responses of another transport.
func (w *Writer) Transport(over lw.Transport) lw.Transport { return &recorder{w, over} }

type recorder struct {
	writer    *Writer
	transport lw.Transport
}

func (r *recorder) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	s := r.writer.startRequest(req)
	body, err := r.transport.Open(ctx, req)
	r.writer.writeOpened(s, newFailure(ctx, err))
	if err != nil {
		return nil, err
	}
	return &recordedBody{ReadCloser: body, ctx: ctx, writer: r.writer, stream: s}, nil
}

// recordedBody records a response body while it is read.
type recordedBody struct {
	io.ReadCloser
	ctx    context.Context
	writer *Writer
	stream *response
	end    sync.Once
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.writer.writeBytes(b.stream, p[:n])
	}
	if err != nil {
		b.end.Do(func() { b.writer.writeClosed(b.stream, newFailure(b.ctx, err)) })
	}
	return n, err
}

// Redact removes the credential of the request from text. See package redact.
func (b *recordedBody) Redact(text string) string { return redact.Body(b.ReadCloser, text) }

func (b *recordedBody) Close() error {
	b.end.Do(func() { b.writer.writeClosed(b.stream, &failure{Kind: failedReader}) })
	return b.ReadCloser.Close()
}
