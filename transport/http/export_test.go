//go:build !js

package http

// RoundTrippers can be compared: other ones mean other connections.
type RoundTrippers = roundTrippers

// Current returns the round trippers that a request is sent with, after it failed with others or before it has.
func (t *Transport) Current(failed *RoundTrippers) *RoundTrippers {
	return t.guard.source.current(failed)
}

// Age lets the minute pass after which the files are looked at again.
func (t *Transport) Age() {
	s := t.guard.source
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookedAt = s.lookedAt.Add(-fileAge)
}
