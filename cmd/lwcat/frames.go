package main

import (
	"bytes"
	"context"
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// framed is a transport that shows each frame of a watch as soon as it is there, before anybody has understood it.
type framed struct {
	over lw.Transport
	show func(frame []byte)
}

func (f *framed) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	body, err := f.over.Open(ctx, req)
	if err != nil || !req.Watch {
		return body, err
	}
	return &frames{ReadCloser: body, show: f.show}, nil
}

// frames cuts what is read into frames, each a JSON value in brackets, however they are set apart.
type frames struct {
	io.ReadCloser
	show     func(frame []byte)
	frame    []byte
	depth    int
	inString bool
	escaped  bool
}

func (f *frames) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	for _, c := range p[:n] {
		if len(f.frame) == 0 && c <= ' ' { // between frames, where it may go on for ever
			continue
		}
		f.frame = append(f.frame, c)
		if f.ends(c) {
			f.tell()
		}
	}
	if err != nil {
		f.tell() // what was cut off, too
	}
	return n, err
}

// Redact removes the credential of the request from text. See package redact.
func (f *frames) Redact(text string) string { return redact.Body(f.ReadCloser, text) }

func (f *frames) tell() {
	if frame := bytes.TrimSpace(f.frame); len(frame) > 0 {
		f.show(frame)
	}
	f.frame = f.frame[:0]
}

// ends takes the next byte, and reports whether a frame ends with it.
func (f *frames) ends(c byte) bool {
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
