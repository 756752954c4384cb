package clock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestContextCarriesClock(t *testing.T) {
	c := &Clock{}
	ctx, cancel := context.WithCancel(With(t.Context(), c))
	defer cancel()
	require.Same(t, c, From(ctx))
}

func TestSystemClocksAreTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, ctx := range []context.Context{t.Context(), With(t.Context(), nil)} {
			c := From(ctx)
			monotonic, wall := c.Monotonic(), c.Wall()
			require.Equal(t, time.Now().Round(0), wall)
			time.Sleep(time.Minute)
			require.Equal(t, monotonic+time.Minute, c.Monotonic())
			require.Equal(t, wall.Add(time.Minute), c.Wall())
		}
	})
}

func TestSinceReturnsTheLongerTime(t *testing.T) {
	var monotonic time.Duration
	wall := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	c := &Clock{Monotonic: func() time.Duration { return monotonic }, Wall: func() time.Time { return wall }}
	then := c.Now()
	wall = wall.Add(time.Hour)
	require.Equal(t, time.Hour, c.Since(then), "Since must include the time during which the machine was suspended")
	monotonic, wall = time.Minute, wall.Add(-2*time.Hour)
	require.Equal(t, time.Minute, c.Since(then), "Since must use the monotonic clock after the wall clock is set back")
}
