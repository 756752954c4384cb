package workqueue

import (
	"context"
	"iter"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// TestMain fails the package if its tests leave goroutines behind.
func TestMain(m *testing.M) { leak.Main(m) }

// unlimited returns a limiter that never delays a retry.
func unlimited() *rate.Limiter { return rate.NewLimiter(rate.Inf, 0) }

// body is a loop over Queue.Keys that is executing its body. The test ends the body with the func end.
type body struct {
	key string
	end func()
}

// begin starts a loop over Queue.Keys and takes the next key, which must be ready. It returns the running loop body.
func begin(t *testing.T, q *Queue[string]) body {
	t.Helper()
	require.NotZero(t, q.Len(), "expected a ready key")
	next, stop := iter.Pull(q.Keys(context.Background()))
	key, ok := next()
	require.True(t, ok)
	return body{key, stop}
}

// takes processes all ready keys and returns them.
func takes(t *testing.T, q *Queue[string]) (keys []string) {
	t.Helper()
	for q.Len() > 0 {
		b := begin(t, q)
		b.end()
		keys = append(keys, b.key)
	}
	return keys
}

// requireForgotten requires that a queue has no keys and keeps no entries.
func requireForgotten(t *testing.T, q *Queue[string]) {
	t.Helper()
	require.Zero(t, q.Len())
	require.Empty(t, q.entries)
	require.Empty(t, q.delayed.heap)
	require.Zero(t, q.active)
}
