//go:build countlocks

// Package lock provides the mutexes of sync. With the build tag countlocks, it counts lock operations.
package lock

import (
	"sync"
	"sync/atomic"
)

// Operations is the number of lock operations on all mutexes of this package.
var Operations atomic.Int64

// Mutex is a [sync.Mutex] that counts lock operations.
type Mutex struct{ sync.Mutex }

// Lock counts the operation and locks m.
func (m *Mutex) Lock() {
	Operations.Add(1)
	m.Mutex.Lock()
}

// RWMutex is a [sync.RWMutex] that counts lock operations.
type RWMutex struct{ sync.RWMutex }

// Lock counts the operation and locks m for writing.
func (m *RWMutex) Lock() {
	Operations.Add(1)
	m.RWMutex.Lock()
}

// RLock counts the operation and locks m for reading.
func (m *RWMutex) RLock() {
	Operations.Add(1)
	m.RWMutex.RLock()
}
