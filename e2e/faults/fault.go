// Package faults is a TCP proxy that misbehaves on purpose: what networks, gateways and dying machines do to a connection.
package faults

import "time"

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
