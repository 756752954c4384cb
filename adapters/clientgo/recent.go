package clientgo

import (
	"runtime"
	"sync"
	"time"
	"weak"
)

// keepFor is how long a struct stays decoded after a read, however often the garbage collector runs.
const keepFor = 10 * time.Second

// recent keeps the structs alive that were read a short time ago. So a program that reads the same objects again does not
// decode them again. It looks for old ones only when the garbage collector has run.
type recent struct {
	now func() time.Time

	mu     sync.Mutex
	kept   []kept
	waited bool // the next collection will be noticed
}

// kept is a struct that is kept alive.
type kept struct {
	of    *decoded
	value any
}

func newRecent() *recent { return &recent{now: time.Now} }

// keep keeps a struct that was just read. It costs next to nothing for a struct that is kept already.
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

// wait arranges a call of collected.
func (r *recent) wait() {
	if !r.waited {
		r.waited = true
		runtime.AddCleanup(new(sentinel), collected, weak.Make(r))
	}
}

// sentinel is freed by the next collection, because nothing refers to it. The pointer gives it an allocation of its own.
type sentinel struct{ _ *byte }

// collected drops structs that were not read for a while. It does not keep the recent alive.
func collected(of weak.Pointer[recent]) {
	if r := of.Value(); r != nil {
		r.drop()
	}
}

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
	r.kept, r.waited = left, false
	if len(left) > 0 {
		r.wait()
	}
}
