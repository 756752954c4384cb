// Package switches is what the code of a package with mutants asks: each operation takes the number of its first mutant, and does
// what stands in the source unless that mutant, or the next one where there are two, is on.
//
// The variable MUTANT has the number of the mutant that is on; none is by default. MUTANT_REACHED may name a file of as many bytes
// as there are mutants: those that are asked for become '1'.
package switches

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	on, _ = strconv.Atoi(os.Getenv("MUTANT"))
	noted = open(os.Getenv("MUTANT_REACHED"))
	// known are those that stand in the file already, as a write for each look would take too long.
	known []atomic.Bool
	one   = []byte{'1'} // made once, as some tests count allocations
)

func open(name string) *os.File {
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	known = make([]atomic.Bool, info.Size())
	return file
}

// On tells whether a mutant is on. Mutants are counted from 1.
func On(mutant int) bool {
	if noted != nil {
		note(mutant)
	}
	return on == mutant
}

func note(mutant int) {
	if known[mutant-1].Swap(true) {
		return
	}
	if _, err := noted.WriteAt(one, int64(mutant-1)); err != nil {
		panic(err)
	}
}

// Not is value, or its contrary.
func Not(mutant int, value bool) bool { return value != On(mutant) }

// And is a && b, or a || b.
func And(mutant int, a bool, b func() bool) bool {
	if On(mutant) {
		return a || b()
	}
	return a && b()
}

// Or is a || b, or a && b.
func Or(mutant int, a bool, b func() bool) bool {
	if On(mutant) {
		return a && b()
	}
	return a || b()
}

// Less is a < b, or a <= b, or a >= b.
func Less[T cmp.Ordered](mutant int, a, b T) bool {
	return choose(mutant, a < b, a <= b, a >= b)
}

// LessOrEqual is a <= b, or a < b, or a > b.
func LessOrEqual[T cmp.Ordered](mutant int, a, b T) bool {
	return choose(mutant, a <= b, a < b, a > b)
}

// Greater is a > b, or a >= b, or a <= b.
func Greater[T cmp.Ordered](mutant int, a, b T) bool {
	return choose(mutant, a > b, a >= b, a <= b)
}

// GreaterOrEqual is a >= b, or a > b, or a < b.
func GreaterOrEqual[T cmp.Ordered](mutant int, a, b T) bool {
	return choose(mutant, a >= b, a > b, a < b)
}

func choose(mutant int, original, first, second bool) bool {
	switch {
	case On(mutant):
		return first
	case On(mutant + 1):
		return second
	}
	return original
}
