// Package preference records which of two transports package fallback currently uses.
package preference

import (
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Preference stores the index of the transport in use, 0 or 1. The zero value selects transport 0. All methods may be
// called concurrently.
type Preference struct {
	mu        sync.Mutex
	current   int
	confirmed bool // a watch over the current transport delivered data
}

// Shared contains a Preference and the first of the two transports of package fallback. All fallback transports to the
// same server share it.
type Shared struct {
	lw.Transport
	Preference *Preference
}

// Current returns the index of the transport in use, and whether a watch over it has delivered data.
func (p *Preference) Current() (using int, confirmed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current, p.confirmed
}

// Switch selects the other transport and reports whether it did so. It does nothing if index is no longer the transport
// in use, which means that another stream has already switched. After a timeout, it also does nothing if the transport
// is confirmed.
func (p *Preference) Switch(index int, timeout bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != index || p.confirmed && timeout {
		return false
	}
	p.current, p.confirmed = 1-index, false
	return true
}

// Confirm records that a watch over the transport with the given index has delivered data.
func (p *Preference) Confirm(index int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirmed = p.confirmed || p.current == index
}
