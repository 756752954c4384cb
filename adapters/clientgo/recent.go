package clientgo

import (
	"sync"
	"time"
	"weak"
)

// keepFor is the minimum time between the last read of a struct and its release.
const keepFor = 10 * time.Second

// recent keeps the recently read structs in memory, so that repeated reads need not decode them again.
type recent struct {
	now func() time.Time

	mu      sync.Mutex
	kept    []kept
	waiting bool // a timer will call drop
}

// kept is a struct that recent keeps in memory.
type kept struct {
	of    *decoded
	value any
}

func newRecent() *recent { return &recent{now: time.Now} }

// keep records that a struct was read, and keeps it in memory for a while. It takes no lock if the struct is already
// kept.
func (r *recent) keep(of *decoded, value any) {
	of.read.Store(r.now().UnixNano())
	if of.kept.Swap(true) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, kept{of, value})
	r.wait()
}

// wait starts a timer for drop, unless a timer is already running. The timer does not keep r in memory. It is necessary
// because an idle program runs a garbage collection only every two minutes.
func (r *recent) wait() {
	if r.waiting {
		return
	}
	r.waiting = true
	weakly := weak.Make(r)
	time.AfterFunc(keepFor, func() {
		if r := weakly.Value(); r != nil {
			r.drop()
		}
	})
}

// drop releases the structs that were not read in the last 10 seconds.
func (r *recent) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.now().Add(-keepFor).UnixNano()
	var left []kept
	for _, k := range r.kept {
		if k.of.read.Load() > oldest {
			left = append(left, k)
		} else {
			k.of.kept.Store(false)
		}
	}
	r.kept, r.waiting = left, false
	if len(left) > 0 {
		r.wait()
	}
}
