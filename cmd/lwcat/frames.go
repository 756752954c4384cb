package main

import (
	"bytes"
	"context"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// frameTransport passes each raw watch event to show before it is decoded.
type frameTransport struct {
	transport lw.Transport
	show      func(frame []byte)
}

func (f *frameTransport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	body, err := f.transport.Open(ctx, req)
	if err != nil || !req.Watch {
		return body, err
	}
	return &frameReader{ReadCloser: body, show: f.show}, nil
}

// frameReader splits a body into JSON values.
type frameReader struct {
	io.ReadCloser
	show     func(frame []byte)
	frame    []byte
	depth    int
	inString bool
	escaped  bool
}

func (f *frameReader) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	for _, c := range p[:n] {
		if len(f.frame) == 0 && c <= ' ' { // skips whitespace between events
			continue
		}
		f.frame = append(f.frame, c)
		if f.endsFrame(c) {
			f.flush()
		}
	}
	if err != nil {
		f.flush() // shows an incomplete event, too
	}
	return n, err
}

// Redact removes the credential of the request from text. See package redact.
func (f *frameReader) Redact(text string) string { return redact.Body(f.ReadCloser, text) }

func (f *frameReader) flush() {
	if frame := bytes.TrimSpace(f.frame); len(frame) > 0 {
		f.show(frame)
	}
	f.frame = f.frame[:0]
}

// endsFrame processes the next byte and reports whether it ends an event.
func (f *frameReader) endsFrame(c byte) bool {
	switch {
	case f.escaped:
		f.escaped = false
	case f.inString && c == '\\':
		f.escaped = true
	case c == '"':
		f.inString = !f.inString
	case f.inString:
	case c == '{' || c == '[':
		f.depth++
	case c == '}' || c == ']':
		f.depth--
		return f.depth <= 0
	}
	return false
}
