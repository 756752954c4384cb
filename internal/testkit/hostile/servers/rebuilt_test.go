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

// transports are the ways in which a server that is not hostile by itself can be reached.
var transports = map[string]server{
	"memory":    {},
	"HTTP":      {wire: (*exchange).honestly},
	"WebSocket": {wire: (*exchange).honestly, ws: true},
}

// following is a reflector that follows a server until the test ends.
type following struct {
	*cache.Reflector[*lw.Object]
	causes []error // causes of all interruptions
}

func (s *server) follow(t *testing.T, m *memory, resource lw.Resource, opts lw.Options) *following {
	source, _, closeWire := s.source(t, m)
	t.Cleanup(closeWire)
	client, err := lw.NewClient(source, resource, lw.RawCodec{}, nil)
	require.NoError(t, err)
	opts.Logger = slog.New(slog.DiscardHandler)
	f := &following{Reflector: cache.NewReflector(client, &opts)}
	ctx, cancel := context.WithCancel(clock.WithRandom(t.Context(), rand.New(rand.NewPCG(1, 11)).Float64))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range f.Changes(ctx) {
			if event.Type == lw.Interrupted {
				f.causes = append(f.causes, event.Interruption.Err)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// pages returns the number of pages of a list.
func (m *memory) pages() int { return max(1, (len(m.latest())+ordinary.PageSize-1)/ordinary.PageSize) }

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
		for transport, s := range transports {
			t.Run(name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := &memory{world: newWorld(1, nil, nil)}
					m.honest.Store(true)
					f := s.follow(t, m, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}, ordinary)
					time.Sleep(10 * time.Minute)
					require.Equal(t, lw.Live, f.State().Phase)
					before := m.lists.Load()
					m.cut()
					time.Sleep(3 * time.Second)
					require.Equal(t, lw.Stale, f.State().Phase)
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
						for object := range f.Store().All() {
							if !c.same && !strings.HasPrefix(object.GetUID(), "u2-") {
								return false
							}
						}
						return f.State().Phase == lw.Live && differ(f.Store().Snapshot(), m.latest()) == ""
					}
					for began := time.Now(); m.lists.Load() == before; { // the backoff
						require.Less(t, time.Since(began), time.Minute, "the stream must check the server before it is live again")
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					for reconnected := time.Now(); !isCurrent(); time.Sleep(100 * time.Millisecond) {
						require.Less(t, time.Since(reconnected), 10*time.Second, "%v", f.causes)
						synctest.Wait()
					}
					pages := c.lists * (m.pages() - 1)
					require.Equal(t, 1, int(m.lists.Load()-before)-c.lists-pages, "a reconnect may need only one more request")
					require.Equal(t, c.lists > 0, matches(f.causes, lw.ErrInvalidResponse), "%v", f.causes)
				})
			})
		}
	}
}
