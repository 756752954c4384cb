package lw

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/sample"
)

// loop gives the same text again and again, as fast as it is read.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	if l.at += n; l.at == len(l.text) {
		l.at = 0
	}
	return n, nil
}

func podEvents() []byte {
	var text []byte
	for _, p := range sample.Pods(7, 500) {
		text = append(text, p.Event("MODIFIED")...)
	}
	return text
}

var keptBytes []byte
var keptObject *Object

// BenchmarkFrameAndCopy is the floor: find the newline, copy the line.
func BenchmarkFrameAndCopy(b *testing.B) {
	text := podEvents()
	src := &loop{text: text}
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	buf, start, end := make([]byte, streamBuffer), 0, 0
	for b.Loop() {
		for {
			if i := bytes.IndexByte(buf[start:end], '\n'); i >= 0 {
				keptBytes = append([]byte(nil), buf[start:start+i]...)
				start += i + 1
				break
			}
			end = copy(buf, buf[start:end])
			start = 0
			n, _ := src.Read(buf[end:])
			end += n
		}
	}
}

// BenchmarkEvent is the whole way of a watch event: framed, validated, metadata read, managedFields dropped, copied.
func BenchmarkEvent(b *testing.B) {
	text := podEvents()
	s := scanner{buffer: newBuffer(&loop{text: text}, 0)}
	var o Scanned
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.event(&o); !ok {
			b.Fatal(s.err)
		}
		keptObject = newObject(&o, false)
	}
}

// BenchmarkSkip is the validation alone.
func BenchmarkSkip(b *testing.B) {
	text := podEvents()
	s := scanner{buffer: newBuffer(&loop{text: text}, 0)}
	b.SetBytes(int64(len(text) / 500))
	for b.Loop() {
		s.begin()
		if s.skip(); s.err != nil {
			b.Fatal(s.err)
		}
	}
}

var _ io.Reader = (*loop)(nil)
