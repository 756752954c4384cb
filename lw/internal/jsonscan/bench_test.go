package jsonscan

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// loop repeats a text without end.
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

// BenchmarkSkip validates events and does nothing else.
func BenchmarkSkip(b *testing.B) {
	text := podEvents()
	r := New(&loop{text: text}, 1<<20)
	b.SetBytes(int64(len(text) / 500))
	for b.Loop() {
		r.Begin()
		if r.SkipValue(); r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
}

// BenchmarkValueEnd finds the end of an object that is known to be valid.
func BenchmarkValueEnd(b *testing.B) {
	text := sample.Pods(7, 1)[0].JSON()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if ValueEnd(text, 0) != len(text) {
			b.Fatal("wrong end")
		}
	}
}
