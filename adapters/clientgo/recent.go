package clientgo

import (
	"sync"
	"time"
	"weak"
)

// keepFor is how long a struct stays decoded after a read, even if the garbage collector runs.
const keepFor = 10 * time.Second

// recent keeps structs in memory for a while after a read, so that repeated reads need not decode them again.
type recent struct {
	now func() time.Time

	mu      sync.Mutex
	kept    []kept
	waiting bool // whether a timer will call drop
}

// kept is a struct that recent keeps in memory.
type kept struct {
	of    *decoded
	value any
}

func newRecent() *recent { return &recent{now: time.Now} }

// keep keeps a struct in memory after a read. It takes no lock if the struct is already kept.
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

// wait starts a timer unless a timer is already running. The timer does not keep r in memory. wait does not rely on the
// garbage collector, which runs only every two minutes in an idle program.
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

// drop releases the structs that were not read within keepFor.
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
