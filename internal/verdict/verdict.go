// Package verdict holds what the streams to one server have learned about its two transports.
package verdict

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Verdict is the transport in use: 0 or 1. The zero value uses the first transport. Many goroutines may use a Verdict.
type Verdict struct {
	mu        sync.Mutex
	current   int
	confirmed bool // a watch over the transport in use delivered bytes
}

// Shared is the first transport of package fallback with a Verdict that other transports to the same server share.
type Shared struct {
	lw.Transport
	Verdict *Verdict
}

// Current returns the transport in use, and whether it is confirmed.
func (v *Verdict) Current() (using int, confirmed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.current, v.confirmed
}

// Change switches from a transport to the other one, and reports whether it did. Another stream may have switched before. A
// silent watch is no reason to leave a confirmed transport.
func (v *Verdict) Change(from int, silent bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current != from || v.confirmed && silent {
		return false
	}
	v.current, v.confirmed = 1-from, false
	return true
}

// Prove notes that a watch over a transport delivered bytes.
func (v *Verdict) Prove(using int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.confirmed = v.confirmed || v.current == using
}
