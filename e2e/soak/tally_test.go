package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts by name. All methods may be called concurrently.
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

// String returns each name with its count.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, fmt.Sprintf("%s %d", name, t.counts[name]))
	}
	return strings.Join(all, ", ")
}
