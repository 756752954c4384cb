package hostile

import (
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
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

// TestCutEndsBlockedWrites opens a watch but never reads it, so the server's write blocks. Cut must end the write,
// because an outage lasts until all requests have ended.
func TestCutEndsBlockedWrites(t *testing.T) {
	all := All()
	s := all[slices.IndexFunc(all, func(s Scenario) bool { return s.Name == "flood" })].Start()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	response, err := server.Client().Get(server.URL + "?watch=1&resourceVersion=5")
	require.NoError(t, err)
	defer response.Body.Close()
	s.Cut()
	require.Eventually(t, func() bool { return s.Open() == 0 }, 10*time.Second, time.Millisecond)
}

// Clients may find objects by their UID, so two objects must not share one.
func TestUIDsAreUnique(t *testing.T) {
	w := All()[0].Start().World
	names := map[string]string{}
	for name, uid := range w.UIDs() {
		require.Empty(t, names[uid], "%s has the same UID", name)
		names[uid] = name
	}
	require.NotEmpty(t, names)
}
