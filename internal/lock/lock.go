//go:build !countlocks

// Package lock provides the mutexes of sync. With the build tag countlocks, it counts lock operations.
package lock

import "sync"

// Mutex is a [sync.Mutex].
type Mutex = sync.Mutex

// RWMutex is a [sync.RWMutex].
type RWMutex = sync.RWMutex
