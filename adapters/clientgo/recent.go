package clientgo

import (
	"sync"
	"time"
	"weak"
)

// keepFor is the minimum time for which a struct stays in memory after its last read.
const keepFor = 10 * time.Second

// recent keeps recently read structs in memory, so that repeated reads need not decode them again.
type recent struct {
	now func() time.Time

	mu      sync.Mutex
	kept    []kept
	waiting bool // a timer to call drop is running
}

type kept struct {
	of    *decoded
	value any
}

func newRecent() *recent { return &recent{now: time.Now} }

// keep records a read of value and keeps value in memory for at least keepFor. It takes no lock if value is already
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

// wait starts a timer that calls drop, unless the timer is already running. The timer does not keep r in memory.
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

// drop releases the structs that were last read keepFor or longer ago.
func (r *recent) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.now().Add(-keepFor).UnixNano()
	var left []kept
	for _, k := range r.kept {
		// keep may run at the same time. It stores the time before it reads the flag, and drop does the reverse. So
		// either drop sees the new time, or keep sees the cleared flag and adds the struct again.
		k.of.kept.Store(false)
		if k.of.read.Load() > oldest && !k.of.kept.Swap(true) {
			left = append(left, k)
		}
	}
	r.kept, r.waiting = left, false
	if len(left) > 0 {
		r.wait()
	}
}
