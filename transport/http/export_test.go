//go:build !js

package http

import (
	"context"
	"time"
)

// RoundTrippers exports roundTrippers. Different pointers use different connections.
type RoundTrippers = roundTrippers

// Current returns the round trippers for a request. failed is nil, or the round trippers of a failed first attempt.
func (t *Transport) Current(failed *RoundTrippers) *RoundTrippers {
	now, err := t.current(context.Background(), credentials{roundTrippers: failed})
	if err != nil {
		panic(err)
	}
	return now.roundTrippers
}

// ReadFiles replaces the function that reads credential files.
func (t *Transport) ReadFiles(read func(name, path string) ([]byte, error)) { t.readFile = read }

// Age simulates that the last read of the files was long ago, so that the next request reads them again.
func (t *Transport) Age() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checkedAt = t.checkedAt.Add(-time.Minute)
}
