package compact

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	samples       = 16       // number of objects that form a dictionary, and number of objects before the first training
	maxSample     = 16 << 10 // maximum number of bytes that an object contributes to a dictionary
	maxDictionary = 64 << 10 // maximum size in bytes; larger dictionaries slow compression down and gain little
)

// trainer trains dictionaries on decoded objects. It divides the objects into intervals, and trains a dictionary at the
// end of each interval. Each interval is 16 times as long as the previous one.
//
// A single early dictionary is not enough, because a list is sorted, so its first objects are a poor sample. The objects
// also change over time. Because the intervals grow, few dictionaries are trained.
type trainer struct {
	current atomic.Pointer[compressor] // nil before the first training

	mu       sync.Mutex
	interval int             // length of the current interval in objects
	sample   [samples]string // random sample of the objects in the current interval
	seen     int             // number of objects in the current interval so far
}

// observe records the JSON of an object, and trains a dictionary at the end of an interval.
func (l *trainer) observe(raw string, hot *objectCache) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.seen
	if at >= samples { // reservoir sampling: each object of the interval is in the sample with the same probability
		at = rand.IntN(at + 1)
	}
	if at < samples {
		l.sample[at] = strings.Clone(raw[:min(len(raw), maxSample)]) // raw may be part of a larger string
	}
	if l.seen++; l.seen == l.interval {
		l.train(hot)
		l.seen, l.interval = 0, 16*l.interval
	}
}

func (l *trainer) train(hot *objectCache) {
	content := []byte(strings.Join(l.sample[:], ""))
	if made := newCompressor(content[max(0, len(content)-maxDictionary):], hot); made != nil {
		l.current.Store(made)
	}
}
