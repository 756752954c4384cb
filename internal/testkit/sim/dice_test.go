package sim

import (
	"math/rand/v2"
	"time"
)

// dice are all that is random in a seed's world.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) *dice { return &dice{rand.New(rand.NewPCG(seed, stream))} }

func (d *dice) oneIn(n int) bool { return d.IntN(n) == 0 }

// upTo returns a duration below a limit. It has nanoseconds, so that no two things happen at the same time.
func (d *dice) upTo(limit time.Duration) time.Duration {
	return 1 + time.Duration(d.Int64N(int64(limit)))
}
