package sim

import (
	"math/rand/v2"
	"time"
)

// dice generates the random numbers of a simulation, which depend only on its seed.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) *dice { return &dice{rand.New(rand.NewPCG(seed, stream))} }

func (d *dice) oneIn(n int) bool { return d.IntN(n) == 0 }

// upTo returns a random duration of at least 1 ns and at most limit. The resolution of 1 ns makes simultaneous events
// unlikely.
func (d *dice) upTo(limit time.Duration) time.Duration {
	return 1 + time.Duration(d.Int64N(int64(limit)))
}
