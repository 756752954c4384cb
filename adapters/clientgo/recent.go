package clientgo

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// recent keeps the structs alive that were read since the garbage collection before the last one. So a program that reads
// the same objects again does not decode them again. When memory is short, collections are frequent, and little is kept.
type recent struct {
	cycle atomic.Uint32 // counts collections, and begins at 1

	mu     sync.Mutex
	young  []any // read since the last collection
	old    []any // read in the cycle before
	waited bool  // the next collection will be noticed
}

func newRecent() *recent {
	r := &recent{}
	r.cycle.Store(1)
	return r
}

// keep keeps a struct that was just read. It costs next to nothing for a struct that is kept already.
func (r *recent) keep(of *decoded, value any) {
	cycle := r.cycle.Load()
	if of.cycle.Swap(cycle) == cycle {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young = append(r.young, value)
	r.wait()
}

// wait arranges a call of collected.
func (r *recent) wait() {
	if !r.waited {
		r.waited = true
		runtime.AddCleanup(new(sentinel), collected, weak.Make(r))
	}
}

// sentinel is freed by the next collection, because nothing refers to it. The pointer gives it an allocation of its own.
type sentinel struct{ _ *byte }

// collected drops what was not read since the collection before the last one. It does not keep r alive.
func collected(of weak.Pointer[recent]) {
	r := of.Value()
	if r == nil {
		return
	}
	r.cycle.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.old, r.young, r.waited = r.young, nil, false
	if r.old != nil {
		r.wait()
	}
}
