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
