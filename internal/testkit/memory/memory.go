// Package memory generates endless responses, as malicious servers might, and measures how much memory clients use
// to read them.
package memory

import (
	"errors"
	"runtime"
	"sync"
)

// ErrEnough is returned by an [Endless] reader after its maximum number of bytes.
var ErrEnough = errors.New("memory: the reader has reached its byte limit")

// Endless is a reader that returns First once and then repeats Then. After about Most bytes, it returns ErrEnough.
type Endless struct {
	First, Then string
	Most        int64  // limit in bytes; Read may exceed it to complete the current repetition of Then
	Heap        *Heap  // measures the heap after each MiB; may be nil
	Pace        func() // called before each Read; may be nil

	total, nextLook int64
}

func (e *Endless) Read(p []byte) (n int, err error) {
	if e.Pace != nil {
		e.Pace()
	}
	if e.Heap != nil && e.total >= e.nextLook {
		e.Heap.Look()
		e.nextLook += 1 << 20
	}
	first := int64(len(e.First))
	n = copy(p, e.First[min(e.total, first):])
	for n < len(p) {
		at := (e.total + int64(n) - first) % int64(len(e.Then))
		if at == 0 && e.total+int64(n) >= e.Most {
			break
		}
		n += copy(p[n:], e.Then[at:])
	}
	e.total += int64(n)
	if n == 0 {
		return 0, ErrEnough
	}
	return n, nil
}

// Close implements io.Closer, which response bodies need.
func (e *Endless) Close() error { return nil }

// Heap measures how much the live heap grows. It is safe for concurrent use.
type Heap struct {
	mu           sync.Mutex
	before, most uint64
}

// NewHeap returns a Heap that measures growth from the current size.
func NewHeap() *Heap { return &Heap{before: Held()} }

// Look measures the live heap. Grown reports the largest measurement.
func (h *Heap) Look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.most = max(h.most, Held())
}

// Grown returns the largest growth that Look has measured, in bytes.
func (h *Heap) Grown() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, int64(h.most)-int64(h.before))
}

// Held returns the size of the live heap in bytes. It takes the smallest of three measurements, because other
// goroutines may allocate during a garbage collection.
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
