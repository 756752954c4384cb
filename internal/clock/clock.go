// Package clock lets tests and replays replace the clocks and the random numbers of the engine.
package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock reads time in two ways. The monotonic clock may stop while a machine is suspended. The wall clock goes on, and
// somebody may set it.
type Clock struct {
	Monotonic func() time.Duration // since the process started
	Wall      func() time.Time

	// Random returns numbers in [0, 1) for delays and timeouts. nil stands for math/rand/v2.
	Random func() float64

	// Replay dates the events of a stream that is replayed. Such a stream waits for nothing, and no silence is too long. nil
	// stands for a stream that is not replayed.
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

// With returns a context that carries c. From finds it there and in all derived contexts.
func With(ctx context.Context, c *Clock) context.Context { return context.WithValue(ctx, key{}, c) }

// WithRandom returns a context whose clock takes its random numbers from random.
func WithRandom(ctx context.Context, random func() float64) context.Context {
	c := *From(ctx)
	c.Random = random
	return With(ctx, &c)
}

// WithReplay returns a context for a stream that is replayed.
func WithReplay(ctx context.Context, now func() time.Time) context.Context {
	c := *From(ctx)
	c.Replay = now
	return With(ctx, &c)
}

// From returns the clock that ctx carries, or the system's clocks. It never returns nil.
func From(ctx context.Context) *Clock {
	if c, ok := ctx.Value(key{}).(*Clock); ok && c != nil {
		return c
	}
	return &system
}

// Reading is the time of both clocks at one moment.
type Reading struct {
	monotonic time.Duration
	wall      time.Time
}

// Moment holds a reading that several goroutines read and set. A reader that races with Set may see one clock of each reading.
type Moment struct{ monotonic, wall atomic.Int64 }

// Set stores a reading.
func (m *Moment) Set(r Reading) {
	m.monotonic.Store(int64(r.monotonic))
	m.wall.Store(r.wall.UnixNano())
}

// Get returns the reading.
func (m *Moment) Get() Reading {
	return Reading{monotonic: time.Duration(m.monotonic.Load()), wall: time.Unix(0, m.wall.Load())}
}

// Now reads both clocks.
func (c *Clock) Now() Reading { return Reading{monotonic: c.Monotonic(), wall: c.Wall()} }

// Since returns the time since a reading: the longer one of the two clocks' times.
func (c *Clock) Since(r Reading) time.Duration {
	now := c.Now()
	return max(now.monotonic-r.monotonic, now.wall.Sub(r.wall))
}
