package clientgo

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// keepFor is the minimum time for which a struct stays in memory after its last read.
const keepFor = 10 * time.Second

// recent holds strong pointers to recently read structs, so that repeated reads need not decode them again. It keeps a
// struct until the end of the period after the one in which it was read.
type recent struct {
	ended atomic.Int64 // number of periods of length keepFor that have ended; changes only while mu is held

	mu             sync.Mutex
	current, older []any // structs that were read in this period and in the one before
	waiting        bool  // a timer to call next is running
}

// keep records a read of value. It takes no lock if value was already read in this period.
func (r *recent) keep(of *decoded, value any) {
	if of.period.Load() == r.ended.Load()+1 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of.period.Store(r.ended.Load() + 1)
	r.current = append(r.current, value)
	r.wait()
}

// wait starts a timer that calls next, unless the timer is already running. The timer does not keep r in memory.
func (r *recent) wait() {
	if r.waiting {
		return
	}
	r.waiting = true
	weakly := weak.Make(r)
	time.AfterFunc(keepFor, func() {
		if r := weakly.Value(); r != nil {
			r.next()
		}
	})
}

// next begins a period, and releases the structs that were not read in the last one.
func (r *recent) next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.older, r.current, r.waiting = r.current, nil, false
	r.ended.Add(1)
	if len(r.older) > 0 {
		r.wait()
	}
}
