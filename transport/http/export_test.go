//go:build !js

package http

import (
	"context"
	"time"
)

// RoundTrippers exports roundTrippers. A test can compare two pointers to find out whether requests share connections,
// because each roundTrippers value has its own connections.
type RoundTrippers = roundTrippers

// Current returns the round trippers for a request. `failed` contains the round trippers of a failed first attempt, or
// is nil.
func (t *Transport) Current(failed *RoundTrippers) *RoundTrippers {
	now, err := t.state.current(context.Background(), credentials{roundTrippers: failed})
	if err != nil {
		panic(err)
	}
	return now.roundTrippers
}

// ReadFiles replaces the function that reads credential files.
func (t *Transport) ReadFiles(read func(name, path string) ([]byte, error)) { t.state.readFile = read }

// Age simulates that the last read of the files was long ago, so that the next request reads them again.
func (t *Transport) Age() {
	t.state.mu.Lock()
	defer t.state.mu.Unlock()
	t.state.checkedAt = t.state.checkedAt.Add(-time.Minute)
}
