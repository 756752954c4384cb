package hostile

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// transports contains the ways to reach the rebuilt server. The server behaves correctly in all of them.
var transports = map[string]Scenario{
	"memory":    {},
	"HTTP":      {network: true},
	"WebSocket": {network: true, ws: true},
}

// following is an informer that follows a server until the test ends.
type following struct {
	*cache.Informer[*lw.Object]
	mu     sync.Mutex
	causes []error // causes of all interruptions
}

// reported returns the causes of all interruptions so far.
func (f *following) reported() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.causes
}

func (s *Scenario) follow(t *testing.T, m *Server, resource lw.Resource, opts lw.Options) *following {
	source, _, closeWire := s.source(t, m)
	t.Cleanup(closeWire)
	client, err := lw.NewClient(source, resource, lw.RawCodec{}, nil)
	require.NoError(t, err)
	opts.Warn, opts.Random = slog.New(slog.DiscardHandler).Warn, rand.New(rand.NewPCG(1, 11)).Float64
	f := &following{Informer: cache.NewInformer(client, &opts)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range f.Follow(ctx) {
			if event.Type == lw.Interrupted {
				f.mu.Lock()
				f.causes = append(f.causes, event.Interruption.Err)
				f.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// pages returns how many pages a list has.
func (s *Server) pages() int { return max(1, (len(s.latest())+ordinary.PageSize-1)/ordinary.PageSize) }

// A server is rebuilt at the same address while the client cannot reach it. The client must report this, and show the new
// objects within ten seconds after it reconnects. If the server has only restarted, the client must not relist.
func TestRebuiltServers(t *testing.T) {
	for _, rebuild := range Rebuilds() {
		for transport, s := range transports {
			t.Run(rebuild.Name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := (&Scenario{}).Start()
					m.honest.Store(true)
					f := s.follow(t, m, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}, ordinary)
					time.Sleep(10 * time.Minute)
					require.Equal(t, lw.Live, f.State().Phase)
					before := m.listed.Load()
					m.Cut()
					time.Sleep(3 * time.Second)
					require.Equal(t, lw.Stale, f.State().Phase)
					m.Resume(&rebuild)
					isCurrent := func() bool {
						for _, object := range f.Store().List() {
							if !rebuild.Same && !strings.HasPrefix(object.GetUID(), "u2-") {
								return false
							}
						}
						return f.State().Phase == lw.Live && differ(f.Store().Snapshot(), m.latest()) == ""
					}
					for began := time.Now(); m.listed.Load() == before; { // waits for the backoff
						require.Less(t, time.Since(began), time.Minute, "the stream must check the server before it is live again")
						time.Sleep(100 * time.Millisecond)
						synctest.Wait()
					}
					for reconnected := time.Now(); !isCurrent(); time.Sleep(100 * time.Millisecond) {
						require.Less(t, time.Since(reconnected), 10*time.Second, "%v", f.reported())
						synctest.Wait()
					}
					requests := 1 // the check whether the server was rebuilt
					if !rebuild.Same {
						requests += m.pages()
					}
					require.EqualValues(t, requests, m.listed.Load()-before, "a reconnect may need only one more request")
					require.Equal(t, !rebuild.Same, matches(f.reported(), lw.ErrInvalidResponse), "%v", f.reported())
				})
			})
		}
	}
}
