//go:build !js

package http

import (
	"context"
	"testing"
	"time"
)

// RoundTrippers exports roundTrippers. Different pointers use different connections.
type RoundTrippers = roundTrippers

// Current returns the round trippers for a request. failed is nil, or the round trippers of a failed first attempt.
func (t *Transport) Current(failed *RoundTrippers) *RoundTrippers {
	now, err := t.authenticator.transports.current(context.Background(), nil, failed)
	if err != nil {
		panic(err)
	}
	return now
}

// ReadFiles replaces readFile until the test ends.
func ReadFiles(t testing.TB, read func(name, path string) ([]byte, error)) {
	before := readFile
	readFile = read
	t.Cleanup(func() { readFile = before })
}

// Age simulates that the last read of the files was long ago, so that the next request reads them again.
func (t *Transport) Age() {
	s := t.authenticator.transports
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkedAt = s.checkedAt.Add(-time.Minute)
}
