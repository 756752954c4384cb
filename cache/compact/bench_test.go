package compact

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

const templates = 1000

// endless is an io.Reader that repeats the same watch events forever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	if e.at += n; e.at == len(e.text) {
		e.at = 0
	}
	return n, nil
}

// events returns a func that decodes n watch events with a codec and returns the elapsed time.
func events[T lw.Keyed](b *testing.B, codec lw.Codec[T]) func(n int) time.Duration {
	var text strings.Builder
	for _, pod := range sample.Templated(1, 2000, templates) {
		text.WriteString(pod.Event("MODIFIED"))
	}
	client, err := lw.NewClient(&answers{io.Reader(&endless{text: text.String()})}, lw.Pods(""), codec, nil)
	if err != nil {
		b.Fatal(err)
	}
	took, left := make(chan time.Duration), make(chan int)
	b.Cleanup(func() { close(left); <-took })
	go func() {
		defer close(took)
		n, began := <-left, time.Now()
		for range client.Watch(b.Context(), lw.ListOptions{}) {
			n--
			if n >= 0 {
				continue
			}
			took <- time.Since(began)
			var more bool
			n, more = <-left
			if !more {
				return
			}
			began = time.Now()
		}
	}()
	return func(n int) time.Duration {
		left <- n
		return <-took
	}
}

// BenchmarkEventOverRaw decodes watch events alternately with RawCodec and with the codec of this package. It reports
// the ratio of the two times per event.
func BenchmarkEventOverRaw(b *testing.B) {
	const turn = 2000
	raw, compact := events(b, lw.RawCodec{}), events(b, newCodec(lw.RawCodec{}, hotBytes))
	compact(5000) // trains the first dictionaries
	var least, all time.Duration
	for b.Loop() {
		least += raw(turn)
		all += compact(turn)
	}
	b.ReportMetric(float64(all)/float64(least), "x-raw")
	b.ReportMetric(float64(least.Nanoseconds())/float64(b.N*turn), "raw-ns/event")
	b.ReportMetric(float64(all.Nanoseconds())/float64(b.N*turn), "ns/event")
	b.ReportMetric(0, "ns/op") // hides the time of one iteration, which covers both codecs
}

// BenchmarkRead reads a field near the end of a Pod. It compares uncompressed Pods, compressed Pods in the cache, and
// compressed Pods outside the cache.
func BenchmarkRead(b *testing.B) {
	pods := sample.Templated(1, 5000, templates)
	texts := decode(b, lw.RawCodec{}, pods)
	field := func(b *testing.B, object func(i int) *lw.Object) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if !object(i%200 + len(pods) - 200).Get("status.phase").Exists() {
				b.Fatal("the Pod has no phase")
			}
		}
	}
	b.Run("text", func(b *testing.B) { field(b, func(i int) *lw.Object { return texts[i] }) })
	for name, opts := range map[string]int{"hot": 100 << 20, "compressed": neverHot} {
		objects := decode(b, newCodec(lw.RawCodec{}, opts), pods)
		b.Run(name, func(b *testing.B) { field(b, func(i int) *lw.Object { return objects[i].Object() }) })
	}
}

// BenchmarkDecompress measures decompression without parsing the JSON.
func BenchmarkDecompress(b *testing.B) {
	objects := decode(b, newCodec(lw.RawCodec{}, neverHot), sample.Templated(1, 5000, templates))
	var text []byte
	for i := 0; b.Loop(); i++ {
		object := objects[len(objects)-200+i%200]
		var err error
		text, err = object.dictionary.decoder.DecodeAll([]byte(object.held[object.resourceVersion:]), text[:0])
		if err != nil {
			b.Fatal(err)
		}
	}
}
