//go:build countlocks

// Package lock has the mutexes of sync. With the build tag countlocks it counts how often they are locked.
package lock

import (
	"sync"
	"sync/atomic"
)

// Operations is how often a mutex of this package was locked.
var Operations atomic.Int64

// Mutex is a [sync.Mutex] that counts.
type Mutex struct{ sync.Mutex }

// Lock locks m and counts.
func (m *Mutex) Lock() {
	Operations.Add(1)
	m.Mutex.Lock()
}

// RWMutex is a [sync.RWMutex] that counts.
type RWMutex struct{ sync.RWMutex }

// Lock locks m for writing and counts.
func (m *RWMutex) Lock() {
	Operations.Add(1)
	m.RWMutex.Lock()
}

// RLock locks m for reading and counts.
func (m *RWMutex) RLock() {
	Operations.Add(1)
	m.RWMutex.RLock()
}
