package hostile

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The other tests play these scenarios in memory. This test plays them over a network, because broken connections cause
// different errors there. The runs over WebSocket end early to save time.
func TestRecoversOverHTTPAndWebSocket(t *testing.T) {
	t.Parallel()
	for transport, end := range map[string]time.Duration{"HTTP": 0, "WebSocket": early} {
		for _, s := range All() {
			t.Run(s.Name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				s.Seed, s.network, s.ws = 1, true, transport == "WebSocket"
				s.Causes = slices.DeleteFunc(slices.Clone(s.Causes), func(err error) bool { return err == errReset })
				synctest.Test(t, func(t *testing.T) { s.run(t, end, nil) })
			})
		}
	}
}
