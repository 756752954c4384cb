package lw

import (
	"math"
	"time"
)

const (
	firstDelay   = 800 * time.Millisecond
	longestDelay = 30 * time.Second
	healthyAfter = 2 * time.Minute // a watch that lived this long forgets former failures
)

// backoff is the delay between tries: doubling, with up to as much again at random on top, so that many clients that
// were cut off together do not come back together. The zero value begins anew.
type backoff struct{ last time.Duration }

// next returns the next delay. asked is what the server asked to wait, the same of all clients: it takes the place of a
// delay that is shorter, but not of what is random. Of more than 68 years no more than those count, so that the sum is no
// delay below zero.
func (b *backoff) next(random float64, asked time.Duration) time.Duration {
	b.last = min(max(2*b.last, firstDelay), longestDelay)
	return max(b.last, min(asked, math.MaxInt32*time.Second)) + time.Duration(random*float64(b.last))
}
