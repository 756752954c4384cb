package recording

import (
	"context"
	"io"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Open implements [lw.Transport]. It returns the responses recorded for the request's path and query, in order. It
// ignores the resourceVersion and the continue token. If the recording has no response, [Over] reports true for the
// error.
func (c *Playback) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	s, last, err := c.player.take(req)
	if err != nil {
		return nil, err
	}
	b := &replayBody{ctx: ctx, view: c, stream: s, ended: errRecordedClose}
	if last {
		b.ended = ErrEnd
	}
	if s.opened == nil {
		return nil, ErrEnd
	}
	if err := c.wait(ctx, *s.opened); err != nil {
		return nil, err
	}
	if s.closed == nil && s.failure != nil { // the request was rejected
		return nil, s.failure.toError(b.ended)
	}
	return &lw.Response{ReadCloser: b}, nil
}

// replayBody is a recorded response body.
type replayBody struct {
	ctx    context.Context
	view   *Playback
	stream *stream
	ended  error // error at the end of a response that the recorded run closed
	next   int   // index of the next data entry
	text   []byte
}

func (b *replayBody) Read(into []byte) (int, error) {
	for len(b.text) == 0 {
		if b.next == len(b.stream.data) {
			return 0, b.endError()
		}
		position := b.stream.data[b.next]
		if err := b.view.wait(b.ctx, position); err != nil {
			return 0, err
		}
		text, err := b.view.player.recording.text(position)
		if err != nil {
			return 0, err
		}
		b.text = text
		b.next++
	}
	n := copy(into, b.text)
	b.text = b.text[n:]
	return n, nil
}

// endError returns the error that ends the body.
func (b *replayBody) endError() error {
	if b.stream.closed == nil {
		return ErrEnd
	}
	if err := b.view.wait(b.ctx, *b.stream.closed); err != nil {
		return err
	}
	if b.stream.failure == nil {
		return io.EOF
	}
	return b.stream.failure.toError(b.ended)
}

// Close does nothing, because the recording stays open.
func (b *replayBody) Close() error { return nil }
