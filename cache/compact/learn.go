package compact

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	samples       = 16       // number of objects that form a dictionary
	maxSample     = 16 << 10 // maximum number of bytes that an object contributes to a dictionary
	maxDictionary = 64 << 10 // maximum size in bytes; larger dictionaries slow compression down and gain little
	maxAlive      = 8        // maximum number of dictionaries in use
)

// trainAfter lists the number of objects before the first, the second and the third training. One early training is not
// enough: a list is sorted, so its first objects are a poor sample.
var trainAfter = [...]int{samples, 256, 4096}

// trainer trains dictionaries on decoded objects. It divides the objects into intervals, whose lengths are in
// trainAfter. After each of the first three intervals, it trains a dictionary. Later it trains a dictionary only if the
// compressed size of the objects grew by a quarter.
type trainer struct {
	current atomic.Pointer[compressor] // nil before the first training
	alive   *atomic.Int32              // number of dictionaries that are not yet garbage-collected

	mu         sync.Mutex
	trained    int             // number of trainings
	sample     [samples]string // random sample of the objects in the current interval
	seen       int             // number of objects in the current interval
	raw        int             // total size of these objects in bytes, before compression
	compressed int             // total size of these objects in bytes, after compression
	expected   float64         // compressed/raw in the first interval after the last training; zero if unknown
}

// observe records the JSON and the compressed size of an object. compressed is in bytes. At the end of each interval,
// observe trains a dictionary if isWorthwhile returns true.
func (l *trainer) observe(raw string, compressed int, hot *objectCache) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.seen
	if at >= samples {
		at = rand.IntN(at + 1)
	}
	if at < samples {
		l.sample[at] = strings.Clone(raw[:min(len(raw), maxSample)]) // raw may be part of a larger string
	}
	l.seen++
	l.raw += len(raw)
	l.compressed += compressed
	if l.seen < trainAfter[min(l.trained, len(trainAfter)-1)] {
		return
	}
	if l.isWorthwhile() && l.alive.Load() < maxAlive {
		l.train(hot)
	}
	l.seen, l.raw, l.compressed = 0, 0, 0
}

// isWorthwhile reports whether a new dictionary should be trained on the current interval.
func (l *trainer) isWorthwhile() bool {
	if l.trained < len(trainAfter) {
		return true
	}
	ratio := float64(l.compressed) / float64(l.raw)
	if l.expected == 0 {
		l.expected = ratio
	}
	return ratio > l.expected*5/4
}

func (l *trainer) train(hot *objectCache) {
	var content []byte
	for _, text := range l.sample {
		content = append(content, text...)
	}
	made := newCompressor(content[max(0, len(content)-maxDictionary):], hot)
	if made == nil {
		return
	}
	l.trained++
	l.expected = 0
	l.alive.Add(1)
	runtime.AddCleanup(made.dictionary, func(living *atomic.Int32) { living.Add(-1) }, l.alive)
	l.current.Store(made)
}
