package main

import "math/rand/v2"

var memory = machine{cost: randomAccess, name: "one random access to as much memory", line: "memory"}

var copies = machine{cost: copying, name: "copying a byte", line: "copying"}

// randomAccess returns how long the processor takes in ns to follow one reference to a random place within as much memory as
// was in use: what the machine takes longer by itself, the more there is.
func randomAccess(_ task, r result) float64 {
	type line struct { // as much as is fetched at once
		next uint32
		_    [60]byte
	}
	lines := make([]line, max(int(r.Bytes/64), 2))
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(lines))
	for i, from := range order { // one circle through all
		lines[from].next = uint32(order[(i+1)%len(order)])
	}
	at := uint32(0)
	return perUnit(3_000_000, 1, func(int) { at = lines[at].next }).Cost
}

// copying returns what it costs in ns to copy one byte of a text of a size, into memory of its own.
func copying(t task, _ result) float64 {
	from := make([]byte, t.Input)
	var held [10]string
	return perUnit(300_000_000/t.Input, t.Input, func(i int) { held[i%len(held)] = string(from) }).Cost
}
