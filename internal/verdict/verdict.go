// Package verdict holds what the streams to one server have learned about its two transports.
package verdict

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Verdict is the transport in use: 0 or 1. The zero value uses the first transport. Many goroutines may use a Verdict.
type Verdict struct {
	mu     sync.Mutex
	inUse  int
	proven bool // a watch over the transport in use delivered bytes
}

// Shared is the first transport of package fallback with a Verdict that other transports to the same server share.
type Shared struct {
	lw.Transport
	Verdict *Verdict
}

// Current returns the transport in use, and whether it is proven.
func (v *Verdict) Current() (using int, proven bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.inUse, v.proven
}

// Change switches from a transport to the other one, and reports whether it did. Another stream may have switched before. A
// silent watch is no reason to leave a proven transport.
func (v *Verdict) Change(from int, silent bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.inUse != from || v.proven && silent {
		return false
	}
	v.inUse, v.proven = 1-from, false
	return true
}

// Prove notes that a watch over a transport delivered bytes.
func (v *Verdict) Prove(using int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.proven = v.proven || v.inUse == using
}
