package compact

import (
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// dictionary decompresses objects. Each object refers to the dictionary that it was compressed with, so the garbage
// collector frees a dictionary with its last object.
type dictionary struct {
	cache   *objectCache  // shared by all dictionaries of the codec
	decoder *zstd.Decoder // nil if objects are stored uncompressed
}

// compressor compresses strings with a dictionary. It uses about 0.9 MB of memory. Objects do not refer to the
// compressor but only to its dictionary, so the garbage collector can free a replaced compressor.
type compressor struct {
	*dictionary
	encoder *zstd.Encoder
}

// windowSize limits how far back in its input the compressor looks for repetitions. The dictionary and an object of the
// same size fit into the window. A larger window uses more memory and gains little.
const windowSize = 2 * maxDictionary

// newCompressor returns a compressor that uses content as its dictionary, or nil if zstd rejects the content. It creates
// no checksums, because compress verifies each result. All dictionaries can have the ID 1, because each object refers to
// its own dictionary. The encoder compresses one object at a time to save memory. With concurrency 0, the decoder can
// decompress as many objects at the same time as there are CPUs.
func newCompressor(content []byte, hot *objectCache) *compressor {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, content), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(windowSize), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil
	}
	// It cannot fail, because the encoder has accepted the same dictionary.
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderDictRaw(1, content), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
	return &compressor{&dictionary{cache: hot, decoder: decoder}, encoder}
}

// buffers contains the scratch memory for compressing or decompressing one object. raw contains its JSON in both cases.
// decompressed is only for verifying a compressed object.
type buffers struct{ raw, packed, decompressed []byte }

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// compress compresses text into w.packed and decompresses the result to verify it. It returns false if text should be
// stored uncompressed, because it does not shrink or the result is wrong.
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

// read decompresses packed and returns the object. If packed is damaged, read panics. This would be a bug, because
// compress has verified packed.
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
		panic("compact: cannot read an object that was verified when it was stored: " + err.Error())
	}
	return object
}
