package sim

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// referenceSeeds is the default number of simulations of the reference engine. Builds with the race detector reduce it.
var referenceSeeds uint64 = 300

// TestReferenceEngineKeepsGuarantees simulates the reference engine. The environment variable REFERENCE sets the number
// of seeds, and FIRST the first seed. SEED selects a single seed and logs its trace.
func TestReferenceEngineKeepsGuarantees(t *testing.T) {
	t.Parallel()
	first, seeds := env(t, "FIRST", 0), env(t, "REFERENCE", referenceSeeds)
	if seed := env(t, "SEED", 1<<63); seed != 1<<63 {
		t.Log(play(t, seed, reference{}.engine).Trace)
		first, seeds = seed, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		if r := play(t, seed, reference{}.engine); r.Failure != nil {
			t.Errorf("%v\nto replay: SEED=%d go test ./internal/testkit/sim -run TestReferenceEngineKeepsGuarantees -v", r.Failure, seed)
		}
	}
}

// TestFindsBrokenRules checks that the simulation notices each broken rule within 5,000 seeds.
func TestFindsBrokenRules(t *testing.T) {
	for name, c := range map[string]struct {
		engine  reference
		promise string
	}{
		"no request budget":                                   {reference{noBucket: true}, "limits requests"},
		"list pages not charged to the request budget":        {reference{freePages: true}, "limits requests"},
		"no limit on relists":                                 {reference{noListBound: true}, "limits relists"},
		"backoff after a healthy watch":                       {reference{slowResume: true}, "resumes quickly"},
		"no backoff after an unhealthy watch":                 {reference{hotResume: true}, "backs off"},
		"no jitter":                                           {reference{noJitter: true}, "uses jitter"},
		"Retry-After ignored":                                 {reference{noRetryAfter: true}, "honors Retry-After; backs off"},
		"constant backoff":                                    {reference{noDoubling: true}, "backs off"},
		"wall clock ignored":                                  {reference{noWall: true}, "detects silence"},
		"list pages with different resourceVersions accepted": {reference{anyPages: true}, "equals the server's state; relists"},
		"list of another kind accepted":                       {reference{anyKind: true}, "equals the server's state"},
		"resume without a resourceVersion":                    {reference{unversioned: true}, "relists"},
		"relist after a 503 response to a watch":              {reference{listOn503: true}, "resumes"},
		"early end bookmark accepted":                         {reference{trusting: true}, "rejects early end bookmarks; relists"},
		"longer idle timeout before the first bookmark":       {reference{mutePatience: true}, "detects silence"},
		"wake ignored during a Retry-After delay":             {reference{deaf: true}, "wakes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found(t, c.engine.engine, c.promise)
		})
	}
}

// TestFindsRestoredStatesThatLookLive covers an engine whose restored state looks live before the server has
// answered.
func TestFindsRestoredStatesThatLookLive(t *testing.T) {
	var hasty func(Subject) Subject
	hasty = func(s Subject) Subject {
		state, reborn := s.State, s.Reborn
		s.State = func() lw.State {
			now := state()
			if now.Phase == lw.Stale && now.Cause == nil {
				now.Phase = lw.Live
			}
			return now
		}
		s.Reborn = func() (Subject, bool) {
			again, ok := reborn()
			return hasty(again), ok
		}
		return s
	}
	found(t, func(t lw.Transport, opts *lw.Options) Subject { return hasty(Real(t, opts)) }, "is live only with the server")
}

// TestFindsBrokenClocksAndRandomNumbers makes the real engine break rules by replacing its clock or its random numbers.
func TestFindsBrokenClocksAndRandomNumbers(t *testing.T) {
	t.Run("no jitter", func(t *testing.T) {
		t.Parallel()
		found(t, func(t lw.Transport, opts *lw.Options) Subject {
			regular := *opts
			regular.Random = func() float64 { return 0 }
			return Real(t, &regular)
		}, "uses jitter")
	})
	t.Run("wall clock ignored", func(t *testing.T) {
		t.Parallel()
		found(t, func(t lw.Transport, opts *lw.Options) Subject {
			sleepless := *opts
			sleepless.Wall = nil
			return Real(t, &sleepless)
		}, "detects silence")
	})
}

// found simulates an engine with up to 5,000 seeds until the engine breaks a guarantee. It fails the test if the engine
// breaks no guarantee, or one that is not in `promises`.
func found(t *testing.T, engine Engine, promises string) {
	for seed := range uint64(5000) {
		r := play(t, seed, engine)
		if r.Failure == nil {
			continue
		}
		var broken *Broken
		require.ErrorAs(t, r.Failure, &broken)
		require.Contains(t, promises, broken.Promise, "%v\n%s", broken, r.Trace)
		t.Logf("seed %d: %v", seed, broken)
		return
	}
	t.Fatal("the simulation did not find the bug")
}
