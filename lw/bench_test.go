package lw

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

var keptBytes []byte
var keptObject *Object

// floor is the baseline for the benchmarks: a decoder that only finds each newline and copies the line. Every client
// must do at least this work.
type floor struct {
	src        io.Reader
	buf        []byte
	start, end int
}

func (f *floor) next() []byte {
	for {
		if i := bytes.IndexByte(f.buf[f.start:f.end], '\n'); i >= 0 {
			line := append([]byte(nil), f.buf[f.start:f.start+i]...)
			f.start += i + 1
			return line
		}
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
		n, _ := f.src.Read(f.buf[f.end:])
		f.end += n
	}
}

func newFloor(text []byte) *floor {
	return &floor{src: sample.Loop(text), buf: make([]byte, 64<<10)}
}

// whole is a decoder that converts each watch event to an Object without managedFields.
type whole struct {
	scanner
	scanned Scanned
}

func (w *whole) next() *Object {
	if _, ok := w.event(&w.scanned); !ok {
		panic(w.Err())
	}
	return decoded(&w.scanned)
}

func newWhole(text []byte) *whole {
	return &whole{scanner: newScanner(sample.Loop(text), 0, nil)}
}

func BenchmarkFrameAndCopy(b *testing.B) {
	text := sample.Events(7, 500)
	f := newFloor(text)
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	for b.Loop() {
		keptBytes = f.next()
	}
}

func BenchmarkEvent(b *testing.B) {
	text := sample.Events(7, 500)
	w := newWhole(text)
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	for b.Loop() {
		keptObject = w.next()
	}
}

// BenchmarkSame measures how long it takes during a relist to find out that an object is unchanged.
func BenchmarkSame(b *testing.B) {
	text := sample.Events(7, 500)
	objects := make([]*Object, 500)
	for w, i := newWhole(text), 0; i < len(objects); i++ {
		objects[i] = w.next()
	}
	w := newWhole(text)
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	i, same := 0, RawCodec{}.Identity().Same
	for b.Loop() {
		w.event(&w.scanned)
		if !same(objects[i%500], &w.scanned) {
			b.Fatal("the decoded object differs from the original")
		}
		i++
	}
}

func TestEventNeedsTwoAllocations(t *testing.T) {
	w := newWhole(sample.Events(7, 500))
	require.EqualValues(t, 2, testing.AllocsPerRun(1000, func() { keptObject = w.next() }))
}

// BenchmarkGet reads a field near the end of a Pod.
func BenchmarkGet(b *testing.B) {
	w := newWhole(sample.Events(7, 500))
	objects := make([]*Object, 500)
	for i := range objects {
		objects[i] = w.next()
	}
	b.SetBytes(int64(len(objects[0].Raw())))
	i := 0
	for b.Loop() {
		if objects[i%500].Get("spec.nodeName").String() == "" {
			b.Fatal("the Pod has no node name")
		}
		i++
	}
}

// BenchmarkMembers iterates over the members of a Pod and of its metadata.
func BenchmarkMembers(b *testing.B) {
	w := newWhole(sample.Events(7, 500))
	objects := make([]*Object, 500)
	for i := range objects {
		objects[i] = w.next()
	}
	b.SetBytes(int64(len(objects[0].Raw())))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		n := 0
		for range objects[i%500].Get("").Members() {
			n++
		}
		for range objects[i%500].Get("metadata").Members() {
			n++
		}
		if n == 0 {
			b.Fatal("the Pod has no members")
		}
		i++
	}
}
