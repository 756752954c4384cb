package compact

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const (
	samples       = 16       // of which a dictionary is made
	maxSample     = 16 << 10 // bytes of one
	maxDictionary = 64 << 10 // bytes; larger ones take longer to compress with, and gain little
	maxLiving     = 8        // dictionaries that objects are compressed against at one time
)

// lessons are after how many more objects a dictionary is made. A list comes sorted, so that its first objects are of one
// namespace and of few templates: what they teach is a beginning.
var lessons = [...]int{samples, 256, 4096}

// learner makes dictionaries of what a codec decodes: first by [lessons], and then whenever as many objects as of the last
// lesson compress by a quarter worse than those that came after it.
type learner struct {
	current atomic.Pointer[press] // nil before the first lesson
	living  *atomic.Int32         // dictionaries that are not collected yet

	mu       sync.Mutex
	learned  int             // lessons
	sample   [samples]string // random ones of the objects seen
	seen     int             // objects since the last lesson, or since it was found not to be time for one
	raw      int             // bytes of these
	held     int             // bytes held for these
	expected float64         // held by raw after the last lesson; zero while that is not known
}

// observe takes note of an object that was held, and learns when it is time to.
func (l *learner) observe(raw string, held int, hot *hotObjects) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.seen; at < samples {
		l.keep(at, raw)
	} else if at = rand.IntN(at + 1); at < samples {
		l.keep(at, raw)
	}
	l.seen++
	l.raw += len(raw)
	l.held += held
	if l.seen < lessons[min(l.learned, len(lessons)-1)] {
		return
	}
	if l.worthwhile() && l.living.Load() < maxLiving {
		l.learn(hot)
	}
	l.seen, l.raw, l.held = 0, 0, 0
}

// keep copies a sample, as it would keep all of a large text alive.
func (l *learner) keep(at int, raw string) {
	l.sample[at] = strings.Clone(raw[:min(len(raw), maxSample)])
}

// worthwhile reports whether the objects seen want a dictionary of their own.
func (l *learner) worthwhile() bool {
	if l.learned < len(lessons) {
		return true
	}
	ratio := float64(l.held) / float64(l.raw)
	if l.expected == 0 {
		l.expected = ratio
	}
	return ratio > l.expected*5/4
}

func (l *learner) learn(hot *hotObjects) {
	var content []byte
	for _, text := range l.sample {
		content = append(content, text...)
	}
	made := newPress(content[max(0, len(content)-maxDictionary):], hot)
	if made == nil {
		return
	}
	l.learned++
	l.expected = 0
	l.living.Add(1)
	runtime.AddCleanup(made.dictionary, func(living *atomic.Int32) { living.Add(-1) }, l.living)
	l.current.Store(made)
}

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
