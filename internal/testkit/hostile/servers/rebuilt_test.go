package servers

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
)

func plus(offset int) func(int) string { return func(n int) string { return strconv.Itoa(n + offset) } }

// A server is rebuilt at the same address while the client cannot reach it. The client reports it and shows the new
// objects within ten seconds of the reconnect, but does not relist a server that is still the same.
func TestRebuiltServers(t *testing.T) {
	for name, c := range map[string]struct {
		after   func(int) string // returns the resourceVersion of a revision of the rebuilt server
		naming  func(int) string // returns the name of the rebuilt server's nth object
		same    bool             // the server is only restarted
		empty   bool             // the rebuilt server has no objects
		lists   int              // lists after the restart
		changed bool             // the restarted server has changed while it was unreachable
	}{
		"restarted":                      {same: true},
		"restarted and changed":          {same: true, changed: true},
		"lower resourceVersions":         {after: plus(-500), lists: 1},
		"higher resourceVersions":        {after: plus(1_000_000), lists: 1},
		"higher, other names":            {after: plus(1_000_000), naming: func(n int) string { return "a-" + strconv.Itoa(n) }, lists: 1},
		"lower, other names":             {after: plus(-500), naming: func(n int) string { return "a-" + strconv.Itoa(n) }, lists: 1},
		"the same resourceVersions":      {after: plus(0), lists: 1},
		"empty, lower resourceVersions":  {after: plus(-500), empty: true, lists: 1},
		"empty, higher resourceVersions": {after: plus(1_000_000), empty: true, lists: 1},
	} {
		for transport, s := range map[string]server{
			"memory":    {},
			"HTTP":      {wire: (*exchange).honestly},
			"WebSocket": {wire: (*exchange).honestly, ws: true},
		} {
			t.Run(name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := &memory{world: newWorld(1, nil, nil)}
					m.honest.Store(true)
					source, _, closeWire := s.source(t, m)
					defer closeWire()
					client, err := lw.NewClient(source, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}, lw.RawCodec{}, nil)
					require.NoError(t, err)
					reflector := cache.NewReflector(client, &lw.Options{NoStreamingList: true, Logger: slog.New(slog.DiscardHandler)})
					ctx, cancel := context.WithCancel(clock.WithRandom(t.Context(), rand.New(rand.NewPCG(1, 11)).Float64))
					var lists, checks int
					var reported error
					ctx = lw.WithTrace(ctx, &lw.Trace{
						Page: func(meta lw.ListMeta) {
							if meta.Continue == "" {
								lists++
							}
						},
					})
					done := make(chan struct{})
					live := false
					go func() {
						defer close(done)
						for event := range reflector.Changes(ctx) {
							live = event.Type == lw.WatchStarted || live && event.Type != lw.Interrupted
							if event.Type == lw.Interrupted {
								reported = event.Interruption.Err
							}
						}
					}()
					time.Sleep(10 * time.Minute)
					require.Equal(t, 1, lists)
					before := m.lists.Load()
					m.cut()
					time.Sleep(3 * time.Second)
					require.False(t, live)
					if !c.same {
						m.world = newWorld(2, c.naming, c.after)
						m.era = "2"
					}
					for c.empty && len(m.names(m.now())) > 0 {
						m.remove()
					}
					if c.changed {
						m.step()
						m.remove()
					}
					m.down.Store(false)
					isCurrent := func() bool {
						for object := range reflector.Store().All() {
							if !c.same && !strings.HasPrefix(object.GetUID(), "u2-") {
								return false
							}
						}
						return live && differ(reflector.Store().Snapshot(), m.latest()) == ""
					}
					for m.lists.Load() == before { // the backoff
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					for reconnected := time.Now(); !isCurrent(); time.Sleep(100 * time.Millisecond) {
						require.Less(t, time.Since(reconnected), 10*time.Second, "%v", reported)
						synctest.Wait()
					}
					checks = int(m.lists.Load()-before) - c.lists
					require.Equal(t, 1, checks, "a reconnect may need only one more request")
					if c.lists > 0 {
						require.ErrorIs(t, reported, lw.ErrInvalidResponse)
					}
					cancel()
					<-done
				})
			})
		}
	}
}
