package compact

import (
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// BenchmarkChoice compares compression libraries with the same dictionary. It reports the size of a compressed Pod and
// the times to compress and decompress it.
func BenchmarkChoice(b *testing.B) {
	var texts [][]byte
	for _, pod := range decode(b, lw.RawCodec{}, sample.Templated(1, 1000, templates)) {
		texts = append(texts, []byte(pod.Raw()))
	}
	var content strings.Builder
	for _, text := range texts[:samples] {
		content.Write(text)
	}
	dictionary := []byte(content.String())[:maxDictionary]
	texts = texts[samples:]

	fast := s2.MakeDict(dictionary, nil)
	decodeS2 := func(to, packed []byte) ([]byte, error) { return fast.Decode(to[:cap(to)], packed) }
	choose(b, "s2", texts, func(to, text []byte) []byte { return fast.Encode(to[:cap(to)], text) }, decodeS2)
	choose(b, "s2-better", texts, func(to, text []byte) []byte { return fast.EncodeBetter(to[:cap(to)], text) }, decodeS2)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, dictionary), zstd.WithEncoderLevel(level),
			zstd.WithWindowSize(windowSize), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			b.Fatal(err)
		}
		decoder := newCompressor(dictionary, nil).decoder
		choose(b, "zstd-"+level.String(), texts, func(to, text []byte) []byte { return encoder.EncodeAll(text, to) },
			func(to, packed []byte) ([]byte, error) { return decoder.DecodeAll(packed, to) })
	}
}

func choose(b *testing.B, name string, texts [][]byte, compress func(to, text []byte) []byte, decompress func(to, packed []byte) ([]byte, error)) {
	b.Run(name, func(b *testing.B) {
		packed, back := make([]byte, 0, 1<<14), make([]byte, 0, 1<<14)
		var compressing, decompressing time.Duration
		bytes, n := 0, 0
		for i := 0; b.Loop(); i++ {
			text := texts[i%len(texts)]
			began := time.Now()
			out := compress(packed, text)
			middle := time.Now()
			got, err := decompress(back, out)
			decompressing += time.Since(middle)
			compressing += middle.Sub(began)
			if err != nil || len(got) != len(text) {
				b.Fatal(err)
			}
			bytes += len(out)
			n++
		}
		b.ReportMetric(float64(bytes)/float64(n), "B/pod")
		b.ReportMetric(float64(compressing.Nanoseconds())/float64(n), "compress-ns")
		b.ReportMetric(float64(decompressing.Nanoseconds())/float64(n), "decompress-ns")
		b.ReportMetric(0, "ns/op")
	})
}
