// Package clock provides time and random numbers to list-watch streams. Tests and replays can replace both.
package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock reads a monotonic clock and the wall clock. The monotonic clock may stop while the machine is suspended. The
// wall clock does not stop, but it can be set to another time.
type Clock struct {
	Monotonic func() time.Duration // time since the process started
	Wall      func() time.Time

	// Random returns numbers in [0, 1) for the jitter of delays and timeouts. Nil selects math/rand/v2.
	Random func() float64

	// Replay returns the time of the current event of a replayed stream, which has no delays and no idle timeouts. It
	// is nil for all other streams.
	Replay func() time.Time
}

var (
	start  = time.Now()
	system = Clock{
		Monotonic: func() time.Duration { return time.Since(start) },
		Wall:      func() time.Time { return time.Now().Round(0) },
	}
)

type key struct{}

// With returns a copy of ctx that carries c.
func With(ctx context.Context, c *Clock) context.Context { return context.WithValue(ctx, key{}, c) }

// WithRandom returns a copy of ctx whose clock gets its random numbers from the function random.
func WithRandom(ctx context.Context, random func() float64) context.Context {
	c := *From(ctx)
	c.Random = random
	return With(ctx, &c)
}

// WithReplay returns a context for a replayed stream. It sets Clock.Replay to the function now.
func WithReplay(ctx context.Context, now func() time.Time) context.Context {
	c := *From(ctx)
	c.Replay = now
	return With(ctx, &c)
}

// From returns the clock of ctx, or the system clock if ctx has none. It never returns nil.
func From(ctx context.Context) *Clock {
	if c, ok := ctx.Value(key{}).(*Clock); ok && c != nil {
		return c
	}
	return &system
}

// Reading is a point in time on both clocks.
type Reading struct {
	monotonic time.Duration
	wall      time.Time
}

// Moment stores a Reading. Get and Set may be called concurrently, but a Get during a Set may mix the times of the old
// and the new Reading.
type Moment struct{ monotonic, wall atomic.Int64 }

func (m *Moment) Set(r Reading) {
	m.monotonic.Store(int64(r.monotonic))
	m.wall.Store(r.wall.UnixNano())
}

func (m *Moment) Get() Reading {
	return Reading{monotonic: time.Duration(m.monotonic.Load()), wall: time.Unix(0, m.wall.Load())}
}

func (c *Clock) Now() Reading { return Reading{monotonic: c.Monotonic(), wall: c.Wall()} }

// Since returns the time that has elapsed since r, measured by the clock that has advanced further.
func (c *Clock) Since(r Reading) time.Duration {
	now := c.Now()
	return max(now.monotonic-r.monotonic, now.wall.Sub(r.wall))
}
