// Package faults is a TCP proxy that misbehaves on purpose: what networks, gateways and dying machines do to a connection.
package faults

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Kind says what a fault does to a connection.
type Kind int

// The kinds of faults.
const (
	Reset       Kind = iota // both ends are reset
	Stall                   // for a while nothing passes, in either direction
	Throttle                // for a while what the server sends trickles
	Truncate                // after so many more bytes the server's words end as if that were all, and the server is left
	EndToClient             // half closed: the client sees the end, what it sends still arrives, what the server sends is lost
	EndToServer             // half closed: the server sees the end, and what it sends still arrives
	kinds
)

var kindNames = [kinds]string{"reset", "stall", "throttle", "truncate", "end to client", "end to server"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all there are.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// lasts reports whether the connection goes on as before when the fault has passed.
func (k Kind) lasts() bool { return k == Stall || k == Throttle }

// Fault is one misfortune of one connection.
type Fault struct {
	Kind  Kind
	After time.Duration // since the connection opened, or the fault before it passed
	For   time.Duration // of Stall and Throttle: how long
	Bytes int           // of Truncate: how many more; of Throttle: how many a second, 10 at least
}

// Random returns faults for [Start] that a seed decides: each connection has one about every so often, the first ones
// rather early, and all kinds are equally frequent. Which connection gets which fault, and what it is just doing then,
// no seed decides.
func Random(seed uint64, mean time.Duration) func() Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	var deck []Kind
	return func() Fault {
		mu.Lock()
		defer mu.Unlock()
		if len(deck) == 0 {
			deck = Kinds()
			random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		fault := Fault{Kind: deck[0]}
		deck = deck[1:]
		early := random.Float64()
		fault.After = time.Duration(3 * early * early * float64(mean))
		switch fault.Kind {
		case Stall:
			fault.For = time.Second + time.Duration(random.Int64N(int64(7*time.Second)))
		case Throttle:
			fault.For = time.Second + time.Duration(random.Int64N(int64(5*time.Second)))
			fault.Bytes = 2 << (10 + random.IntN(6))
		case Truncate:
			fault.Bytes = 1 + random.IntN(1<<random.IntN(17))
		}
		return fault
	}
}
