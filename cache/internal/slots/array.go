package slots

import "cmp"

// An array is a tree of fixed height. A write after a snapshot copies one inner node per level. For a million slots, it
// copies about 1 kB, compared to 60 kB for a flat array.
const (
	chunkBits, branchBits = 4, 6
	topBits               = chunkBits + branchBits

	chunkMask, branchMask = 1<<chunkBits - 1, 1<<branchBits - 1
)

// array maps indexes to nodes. The zero value is empty.
type array[N any] struct {
	top   []*branch[N]
	epoch uint64 // epoch in which top was created
}

type branch[N any] struct {
	epoch  uint64
	chunks [1 << branchBits]*chunk[N]
}

type chunk[N any] struct {
	epoch uint64
	nodes [1 << chunkBits]*N
}

// get returns the node at an index, or nil if the index is unused.
func (a *array[N]) get(at uint32) *N {
	i := int(at >> topBits)
	if i >= len(a.top) {
		return nil
	}
	c := a.top[i].chunks[at>>chunkBits&branchMask]
	if c == nil {
		return nil
	}
	return c.nodes[at&chunkMask]
}

// set stores a node at an index. It creates missing inner nodes and copies those of earlier epochs. epoch is the current
// epoch of the writer.
func (a *array[N]) set(epoch uint64, at uint32, node *N) {
	i := int(at >> topBits)
	if a.epoch != epoch {
		a.top, a.epoch = append(make([]*branch[N], 0, max(cap(a.top), i+1)), a.top...), epoch
	}
	for i >= len(a.top) {
		a.top = append(a.top, &branch[N]{epoch: epoch})
	}
	b := a.top[i]
	if b.epoch != epoch {
		b = &branch[N]{epoch: epoch, chunks: b.chunks}
		a.top[i] = b
	}
	j := at >> chunkBits & branchMask
	c := b.chunks[j]
	switch {
	case c == nil:
		c = &chunk[N]{epoch: epoch}
		b.chunks[j] = c
	case c.epoch != epoch:
		c = &chunk[N]{epoch: epoch, nodes: c.nodes}
		b.chunks[j] = c
	}
	c.nodes[at&chunkMask] = node
}

// all calls a func for every node, in the order of the indexes, until the func returns false. It reports whether it
// visited all nodes.
func (a *array[N]) all(each func(at uint32, node *N) bool) bool {
	for i, b := range a.top {
		for j, c := range b.chunks {
			if c == nil {
				continue
			}
			for k, node := range c.nodes {
				if node != nil && !each(uint32(i<<topBits|j<<chunkBits|k), node) {
					return false
				}
			}
		}
	}
	return true
}

// changed calls a func for every index at which two states of an array have different nodes. It skips shared subtrees.
func changed[N any](older, newer *array[N], each func(at uint32, before, after *N)) {
	noBranch, noChunk := &branch[N]{}, &chunk[N]{}
	for i := range max(len(older.top), len(newer.top)) {
		a, b := noBranch, noBranch
		if i < len(older.top) {
			a = older.top[i]
		}
		if i < len(newer.top) {
			b = newer.top[i]
		}
		for j := 0; a != b && j < 1<<branchBits; j++ {
			x, y := cmp.Or(a.chunks[j], noChunk), cmp.Or(b.chunks[j], noChunk)
			for k := 0; x != y && k < 1<<chunkBits; k++ {
				if before, after := x.nodes[k], y.nodes[k]; before != after {
					each(uint32(i<<topBits|j<<chunkBits|k), before, after)
				}
			}
		}
	}
}
