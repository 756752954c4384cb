package workqueue

import (
	"context"
	"iter"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/leak"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

func TestMain(m *testing.M) { leak.Main(m) }

func unlimited() *rate.Limiter { return rate.NewLimiter(rate.Inf, 0) }

// body represents an unfinished iteration of a loop over Queue.Keys. end finishes it.
type body struct {
	key string
	end func()
}

// begin starts a loop over Queue.Keys and returns its first iteration, which is unfinished. A key must be ready.
func begin(t *testing.T, q *Queue[string]) body {
	t.Helper()
	require.NotZero(t, q.Len(), "a key must be ready")
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
	require.Empty(t, q.delayed)
	require.Zero(t, q.active)
}
