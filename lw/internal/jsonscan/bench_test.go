package jsonscan

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

func BenchmarkSkip(b *testing.B) {
	text := sample.Events(7, 500)
	r := New(sample.Loop(text), 1<<20)
	b.SetBytes(int64(len(text) / 500))
	for b.Loop() {
		r.Begin()
		if r.SkipValue(); r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
}

func BenchmarkValueEnd(b *testing.B) {
	text := sample.Pods(7, 1)[0].JSON()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if ValueEnd(text, 0) != len(text) {
			b.Fatal("ValueEnd returned the wrong position")
		}
	}
}
