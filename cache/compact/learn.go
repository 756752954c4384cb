package compact

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	samples       = 16       // number of objects in a dictionary
	maxSample     = 16 << 10 // maximum number of bytes from one object
	maxDictionary = 64 << 10 // bytes; larger dictionaries slow compression down and gain little
	maxAlive      = 8        // maximum number of dictionaries in use
)

// trainAfter lists the numbers of objects between trainings. The first objects of a list are a poor sample, because a
// list is sorted.
var trainAfter = [...]int{samples, 256, 4096}

// trainer trains dictionaries on decoded objects: first at the intervals of trainAfter, then when the compressed size
// grows by a quarter.
type trainer struct {
	current atomic.Pointer[compressor] // nil before the first training
	alive   *atomic.Int32              // number of dictionaries that are still referenced

	mu         sync.Mutex
	trained    int             // number of trainings
	sample     [samples]string // random sample of the objects seen
	seen       int             // objects in the current interval
	raw        int             // uncompressed bytes in the interval
	compressed int             // stored bytes in the interval
	expected   float64         // compressed/raw after the last training; zero if unknown
}

// observe records an object and trains a dictionary when it is due.
func (l *trainer) observe(raw string, held int, hot *objectCache) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.seen
	if at >= samples {
		at = rand.IntN(at + 1)
	}
	if at < samples {
		l.addSample(at, raw)
	}
	l.seen++
	l.raw += len(raw)
	l.compressed += held
	if l.seen < trainAfter[min(l.trained, len(trainAfter)-1)] {
		return
	}
	if l.isWorthwhile() && l.alive.Load() < maxAlive {
		l.train(hot)
	}
	l.seen, l.raw, l.compressed = 0, 0, 0
}

// addSample copies a sample so that it does not keep a larger text alive.
func (l *trainer) addSample(at int, raw string) {
	l.sample[at] = strings.Clone(raw[:min(len(raw), maxSample)])
}

// isWorthwhile reports whether the observed objects need a new dictionary.
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
