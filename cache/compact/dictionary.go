package compact

import (
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// dictionary is what an object needs to be read. Every object holds the one that it was compressed against, so that the
// collector frees a dictionary with the last of its objects.
type dictionary struct {
	hot     *hotObjects   // the codec's
	decoder *zstd.Decoder // nil if the objects are held as they are
}

// press compresses against a dictionary. It is larger than what reading takes, so that only the codec holds it, and only
// the present one.
type press struct {
	*dictionary
	encoder *zstd.Encoder
}

// windowSize is how far back a copy may reach in a large object. Beyond it more memory gains little.
const windowSize = 2 * maxDictionary

func newPress(content []byte, hot *hotObjects) *press {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, content), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(windowSize), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(1, content), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil
	}
	return &press{&dictionary{hot: hot, decoder: decoder}, encoder}
}

// work is the memory that one goroutine needs for a moment.
type work struct{ raw, packed, back []byte }

var works = sync.Pool{New: func() any { return new(work) }}

// compress makes packed of a text, and reads it back: a fault of the compressor must cost memory and not truth. It
// returns false if the text is better held as it is.
func (w *work) compress(by *press, text string) bool {
	w.raw = append(w.raw[:0], text...)
	w.packed = by.encoder.EncodeAll(w.raw, w.packed[:0])
	if len(w.packed) >= len(text) {
		return false
	}
	var err error
	w.back, err = by.decoder.DecodeAll(w.packed, w.back[:0])
	return err == nil && string(w.back) == text
}

// read returns the object whose text was compressed.
func (d *dictionary) read(packed string) *lw.Object {
	w := works.Get().(*work)
	defer works.Put(w)
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
