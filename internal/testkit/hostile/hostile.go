// Package hostile makes what a server may send that means no good, and measures what it costs in memory, for tests.
package hostile

import (
	"errors"
	"runtime"
	"sync"
)

// ErrEnough is what an [Endless] says when it was read for too long.
var ErrEnough = errors.New("hostile: all of it was taken")

// Endless says something once, and then something else again and again.
type Endless struct {
	First, Then string
	Most        int64  // bytes after which it fails with ErrEnough
	Heap        *Heap  // measured at every MiB of what is said; may be nil
	Pace        func() // called before each Read; may be nil

	said, looked int64
	at           int // in Then
}

func (e *Endless) Read(p []byte) (n int, err error) {
	if e.Pace != nil {
		e.Pace()
	}
	if e.Heap != nil && e.said >= e.looked {
		e.Heap.Look()
		e.looked += 1 << 20
	}
	defer func() { e.said += int64(n) }()
	if n = copy(p, e.First); n > 0 {
		e.First = e.First[n:]
		return n, nil
	}
	if e.at == 0 && e.said >= e.Most {
		return 0, ErrEnough
	}
	for n < len(p) && (e.at > 0 || e.said+int64(n) < e.Most) {
		part := copy(p[n:], e.Then[e.at:])
		e.at = (e.at + part) % len(e.Then)
		n += part
	}
	return n, nil
}

// Close makes it a body.
func (e *Endless) Close() error { return nil }

// Heap is how much memory is held. All methods may run concurrently.
type Heap struct {
	mu           sync.Mutex
	before, most uint64
}

// NewHeap begins to measure.
func NewHeap() *Heap { return &Heap{before: Held()} }

// Look measures what is held now: garbage does not count.
func (h *Heap) Look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.most = max(h.most, Held())
}

// Grown returns how much more was held at most than when it began, in bytes.
func (h *Heap) Grown() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, int64(h.most)-int64(h.before))
}

// Held is how much of the heap is held, in bytes: the least of a few looks, as what runs meanwhile makes garbage that a collection
// has missed, and what is really held is in all of them.
func Held() uint64 {
	least := ^uint64(0)
	for range 3 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		least = min(least, stats.HeapAlloc)
	}
	return least
}
