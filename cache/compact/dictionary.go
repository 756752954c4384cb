package compact

import (
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// dictionary is what an object needs to be read. Every object holds the one that it was compressed against, so that the
// collector frees a dictionary with the last of its objects.
type dictionary struct {
	cache   *objectCache  // the codec's
	decoder *zstd.Decoder // nil if the objects are held as they are
}

// compressor compresses against a dictionary. It is large, so that only the codec holds the current one.
type compressor struct {
	*dictionary
	encoder *zstd.Encoder
}

// windowSize is how far back a copy may reach in a large object. Beyond it more memory gains little.
const windowSize = 2 * maxDictionary

func newCompressor(content []byte, hot *objectCache) *compressor {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, content), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(windowSize), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(1, content), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil
	}
	return &compressor{&dictionary{cache: hot, decoder: decoder}, encoder}
}

// buffers are reused by compressions.
type buffers struct{ raw, packed, decompressed []byte }

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// compress compresses a text and verifies the result, because a fault of the compressor must not corrupt an object. It returns
// false if the text is better stored as it is.
func (w *buffers) compress(by *compressor, text string) bool {
	w.raw = append(w.raw[:0], text...)
	w.packed = by.encoder.EncodeAll(w.raw, w.packed[:0])
	if len(w.packed) >= len(text) {
		return false
	}
	var err error
	w.decompressed, err = by.decoder.DecodeAll(w.packed, w.decompressed[:0])
	return err == nil && string(w.decompressed) == text
}

// read returns the object whose text was compressed.
func (d *dictionary) read(packed string) *lw.Object {
	w := bufferPool.Get().(*buffers)
	defer bufferPool.Put(w)
	w.packed = append(w.packed[:0], packed...)
	text, err := w.packed, error(nil)
	if d.decoder != nil {
		w.raw, err = d.decoder.DecodeAll(w.packed, w.raw[:0])
		text = w.raw
	}
	object := (*lw.Object)(nil)
	if err == nil {
		object, err = lw.ParseObject(text)
	}
	if err != nil {
		panic("compact: an object that could be read when it came cannot be read any more: " + err.Error())
	}
	return object
}
