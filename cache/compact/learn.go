package compact

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	samples       = 16       // of which a dictionary is made
	maxSample     = 16 << 10 // bytes of one
	maxDictionary = 64 << 10 // bytes; larger ones take longer to compress with, and gain little
	maxAlive      = 8        // dictionaries that objects are compressed against at one time
)

// trainAfter lists after how many more objects a dictionary is trained. A list is sorted, so that its first objects are a poor
// sample.
var trainAfter = [...]int{samples, 256, 4096}

// trainer trains dictionaries on decoded objects: first after the counts of trainAfter, then when the compression ratio drops by
// a quarter.
type trainer struct {
	current atomic.Pointer[compressor] // nil before the first lesson
	alive   *atomic.Int32              // dictionaries that are not collected yet

	mu         sync.Mutex
	trained    int             // lessons
	sample     [samples]string // random ones of the objects seen
	seen       int             // objects since the last lesson, or since it was found not to be time for one
	raw        int             // bytes of these
	compressed int             // bytes held for these
	expected   float64         // held by raw after the last lesson; zero while that is not known
}

// observe records an object and trains a dictionary when it is due.
func (l *trainer) observe(raw string, held int, hot *objectCache) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.seen; at < samples {
		l.addSample(at, raw)
	} else if at = rand.IntN(at + 1); at < samples {
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
