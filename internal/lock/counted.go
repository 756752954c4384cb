//go:build countlocks

// Package lock provides the mutexes of package sync. With the build tag countlocks, it counts how often they are
// locked.
package lock

import (
	"sync"
	"sync/atomic"
)

// Operations is the number of Lock and RLock calls on all mutexes of this package.
var Operations atomic.Int64

// Mutex is a [sync.Mutex] that increments Operations when it is locked.
type Mutex struct{ sync.Mutex }

func (m *Mutex) Lock() {
	Operations.Add(1)
	m.Mutex.Lock()
}

// RWMutex is a [sync.RWMutex] that increments Operations when it is locked.
type RWMutex struct{ sync.RWMutex }

func (m *RWMutex) Lock() {
	Operations.Add(1)
	m.RWMutex.Lock()
}

func (m *RWMutex) RLock() {
	Operations.Add(1)
	m.RWMutex.RLock()
}
