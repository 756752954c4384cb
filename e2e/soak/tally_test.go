package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally is a set of named counters. All methods may be called concurrently.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[name]++
}

func (t *tally) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[name]
}

// String returns all counters, for example "created 3, deleted 1".
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, fmt.Sprintf("%s %d", name, t.counts[name]))
	}
	return strings.Join(all, ", ")
}
