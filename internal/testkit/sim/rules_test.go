package sim

import (
	"context"
	"iter"
	"testing"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// referenceSeeds is how many seeds the reference engine plays by default; fewer under the race detector.
var referenceSeeds uint64 = 300

// TestReferenceEngine plays REFERENCE seeds, beginning with FIRST: a plain engine that follows the specification keeps all
// promises. SEED alone is played with its trace.
func TestReferenceEngine(t *testing.T) {
	t.Parallel()
	first, seeds := env(t, "FIRST", 0), env(t, "REFERENCE", referenceSeeds)
	if seed := env(t, "SEED", 1<<63); seed != 1<<63 {
		t.Log(play(t, seed, reference{}.engine).Trace)
		first, seeds = seed, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		if r := play(t, seed, reference{}.engine); r.Failure != nil {
			t.Errorf("%v\nto replay: SEED=%d go test ./internal/testkit/sim -run TestReferenceEngine -v", r.Failure, seed)
		}
	}
}

// TestBrokenRules: an engine that breaks one rule is found within a few thousand seeds, by the promise that it breaks.
func TestBrokenRules(t *testing.T) {
	for name, c := range map[string]struct {
		engine  reference
		promise string
	}{
		"no request budget":                      {reference{noBucket: true}, "paced"},
		"a request budget that ignores pages":    {reference{freePages: true}, "paced"},
		"no bound on relists":                    {reference{noListBound: true}, "relists seldom"},
		"backoff after a healthy watch":          {reference{slowResume: true}, "resumes soon"},
		"no backoff after an unhealthy watch":    {reference{hotResume: true}, "backs off"},
		"no jitter":                              {reference{noJitter: true}, "has jitter"},
		"an ignored Retry-After":                 {reference{noRetryAfter: true}, "honors Retry-After; backs off"},
		"a backoff that never doubles":           {reference{noDoubling: true}, "backs off"},
		"an ignored wall clock":                  {reference{noWall: true}, "notices silence"},
		"pages of two resourceVersions":          {reference{anyPages: true}, "the fold is the server's state; relists"},
		"a list of another kind":                 {reference{anyKind: true}, "the fold is the server's state"},
		"a resume without a resourceVersion":     {reference{nameless: true}, "relists"},
		"a list after 503 on a watch":            {reference{listOn503: true}, "resumes"},
		"an early end mark that is trusted":      {reference{trusting: true}, "distrusts an early mark; relists"},
		"a silent watch that was never heard":    {reference{mutePatience: true}, "notices silence"},
		"a wake that does not end a Retry-After": {reference{deaf: true}, "wakes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found(t, c.engine.engine, c.promise)
		})
	}
}

// TestBrokenClocksAndDice breaks the same rules in the real engine, as far as that is possible from outside.
func TestBrokenClocksAndDice(t *testing.T) {
	t.Run("no jitter", func(t *testing.T) {
		t.Parallel()
		found(t, func(t lw.Transport, opts *lw.Options) Subject {
			return in(Real(t, opts), func(ctx context.Context) context.Context {
				return clock.WithRandom(ctx, func() float64 { return 0 })
			})
		}, "has jitter")
	})
	t.Run("an ignored wall clock", func(t *testing.T) {
		t.Parallel()
		found(t, func(t lw.Transport, opts *lw.Options) Subject {
			return in(Real(t, opts), func(ctx context.Context) context.Context {
				return clock.WithRandom(clock.With(ctx, nil), clock.From(ctx).Random)
			})
		}, "notices silence")
	})
}

// in runs a subject in another context. It is never reborn.
func in(s Subject, with func(context.Context) context.Context) Subject {
	s.Reborn = nil
	changes := s.Deltas
	s.Deltas = func(ctx context.Context) iter.Seq2[event, []cache.Change[object]] { return changes(with(ctx)) }
	return s
}

// found plays seeds until an engine breaks a promise, which must be one of those named.
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
	t.Fatal("the bug was not found")
}
