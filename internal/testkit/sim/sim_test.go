package sim

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// seedsByDefault is the default number of simulations. Builds with the race detector reduce it.
var seedsByDefault uint64 = 2000

func env(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// play simulates an engine in a synctest bubble, so that a leaked goroutine causes a deadlock.
func play(t *testing.T, seed uint64, engine Engine) (r Report) {
	synctest.Test(t, func(*testing.T) { r = Play(seed, engine) })
	return r
}

// TestSimulation simulates the real engine on all cores. The environment variable SEEDS sets the number of seeds, and
// FIRST the first seed. SEED selects a single seed and logs its trace.
func TestSimulation(t *testing.T) {
	if os.Getenv("SEED") != "" {
		r := play(t, env(t, "SEED", 0), Real)
		t.Logf("%d requests, settled after %v\n%s", r.Requests, r.Settled, r.Trace)
		require.NoError(t, r.Failure)
		return
	}
	first, seeds := env(t, "FIRST", 0), env(t, "SEEDS", seedsByDefault)
	var next, requests, resumed, longest atomic.Uint64
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for n := next.Add(1) - 1; n < seeds; n = next.Add(1) - 1 {
					r := play(t, first+n, Real)
					resumed.Add(uint64(r.Resumed))
					if requests.Add(uint64(r.Requests)); r.Failure != nil {
						t.Errorf("%v\nto replay: SEED=%d go test ./internal/testkit/sim -run TestSimulation -v", r.Failure, first+n)
					}
					for old := longest.Load(); old < uint64(r.Settled) && !longest.CompareAndSwap(old, uint64(r.Settled)); {
						old = longest.Load()
					}
				}
			})
		}
	})
	took := time.Since(began)
	t.Logf("%d seeds (%.0f per second), %d requests, %d streams resumed, all settled within %v",
		seeds, float64(seeds)/took.Seconds(), requests.Load(), resumed.Load(), time.Duration(longest.Load()))
	require.True(t, seeds < 100 || resumed.Load() > seeds/10, "too few streams resumed: %d", resumed.Load())
}

func TestSeedsAreDeterministic(t *testing.T) {
	for name, engine := range map[string]Engine{"real engine": Real, "reference engine": reference{}.engine} {
		for seed := range uint64(50) {
			first, second := play(t, seed, engine), play(t, seed, engine)
			require.Equal(t, first.Hash, second.Hash, "%s, seed %d\n%s\n%s", name, seed, first.Trace, second.Trace)
		}
	}
}
