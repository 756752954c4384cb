// Package sample has mutants of each kind, and tests that notice some of them.
package sample

import (
	"math"
	"time"
)

// limit has an operator that only a compilation could change.
const limit = 2 * 5

// sizes has a length and keys that must stay constants.
var sizes = [1 + 1]time.Duration{1 - 1: 3 * time.Second, 1: -2}

type state struct {
	open  bool
	count int
}

// Compared has a boundary that no test is at.
func Compared(a, b int) bool { return a == b || a > limit }

func Shifted[T uint64 | uint32](n T) T { return n<<3 | 1<<n }

func (s *state) add(n int) {
	s.open = true
	for range n {
		s.count++
	}
	defer s.note("deferred")
	s.note("called")
}

func (s *state) note(what string) {
	if what != "" && s.open {
		added := len(what + "!")
		s.count += added
	}
}

// Received has nothing that could be left out.
func Received(from chan int) (n int) {
	select {
	case n = <-from:
	default:
		panic("nothing came")
	}
	return n + int(uint64(1<<64-1)>>63) + int(uint8(-math.MinInt8)>>7)
}

// Halved runs in circles without its assignment.
func Halved(n int) (times int) {
	for n != 0 {
		n = n / 2
		times++
	}
	return times
}

func untested(n int) int { return -n }
