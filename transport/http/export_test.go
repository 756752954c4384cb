//go:build !js

package http

import (
	"context"
	"testing"
)

// RoundTrippers can be compared: other ones mean other connections.
type RoundTrippers = roundTrippers

// Current returns the round trippers that a request is sent with, after it failed with others or before it has.
func (t *Transport) Current(failed *RoundTrippers) *RoundTrippers {
	now, err := t.authenticator.transports.current(context.Background(), nil, failed)
	if err != nil {
		panic(err)
	}
	return now
}

// ReadFiles replaces the reading of all files until the test ends.
func ReadFiles(t testing.TB, read func(what, path string) ([]byte, error)) {
	before := readFile
	readFile = read
	t.Cleanup(func() { readFile = before })
}

// Age lets the minute pass after which the files are looked at again.
func (t *Transport) Age() {
	s := t.authenticator.transports
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkedAt = s.checkedAt.Add(-recheckInterval)
}
