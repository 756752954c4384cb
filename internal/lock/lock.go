//go:build !countlocks

// Package lock provides the mutexes of package sync. With the build tag countlocks, it counts how often they are
// locked.
package lock

import "sync"

// Mutex is a [sync.Mutex].
type Mutex = sync.Mutex

// RWMutex is a [sync.RWMutex].
type RWMutex = sync.RWMutex
