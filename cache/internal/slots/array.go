package slots

import "unsafe"

// An array is a tree of fixed height. A write after a snapshot copies one inner node per level. For a million slots, it
// copies about 1 kB, compared to 60 kB for a flat array.
const (
	chunkBits, branchBits = 4, 6
	topBits               = chunkBits + branchBits

	chunkMask, branchMask = 1<<chunkBits - 1, 1<<branchBits - 1
)

// array maps indexes to nodes. The zero value is empty.
type array[N any] struct{ tree }

// get returns the node at an index, or nil if the index is unused.
func (a *array[N]) get(at uint32) *N { return (*N)(a.tree.get(at)) }

// set stores a node at an index. epoch is the current epoch of the writer.
func (a *array[N]) set(epoch uint64, at uint32, node *N) { a.tree.set(epoch, at, unsafe.Pointer(node)) }

// all calls a func for every node, in the order of the indexes, until the func returns false. It reports whether it
// visited all nodes.
func (a *array[N]) all(each func(at uint32, node *N) bool) bool {
	return a.tree.all(func(at uint32, node unsafe.Pointer) bool { return each(at, (*N)(node)) })
}

// changed calls a func for every index at which two states of an array have different nodes. It skips shared subtrees.
func changed[N any](older, newer *array[N], each func(at uint32, before, after *N)) {
	changedNodes(&older.tree, &newer.tree, func(at uint32, before, after unsafe.Pointer) { each(at, (*N)(before), (*N)(after)) })
}

// tree is an array of untyped nodes. Its code is compiled only once instead of once per node type.
type tree struct {
	top   []*branch
	epoch uint64 // epoch in which top was created
}

type branch struct {
	epoch  uint64
	chunks [1 << branchBits]*chunk
}

type chunk struct {
	epoch uint64
	nodes [1 << chunkBits]unsafe.Pointer
}

func (a *tree) get(at uint32) unsafe.Pointer {
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

// set stores a node at an index. It creates missing inner nodes and copies those of earlier epochs.
func (a *tree) set(epoch uint64, at uint32, node unsafe.Pointer) {
	i := int(at >> topBits)
	if a.epoch != epoch {
		a.top, a.epoch = append(make([]*branch, 0, max(cap(a.top), i+1)), a.top...), epoch
	}
	for i >= len(a.top) {
		a.top = append(a.top, &branch{epoch: epoch})
	}
	b := a.top[i]
	if b.epoch != epoch {
		b = &branch{epoch: epoch, chunks: b.chunks}
		a.top[i] = b
	}
	j := at >> chunkBits & branchMask
	c := b.chunks[j]
	switch {
	case c == nil:
		c = &chunk{epoch: epoch}
		b.chunks[j] = c
	case c.epoch != epoch:
		c = &chunk{epoch: epoch, nodes: c.nodes}
		b.chunks[j] = c
	}
	c.nodes[at&chunkMask] = node
}

func (a *tree) all(each func(at uint32, node unsafe.Pointer) bool) bool {
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

func changedNodes(older, newer *tree, each func(at uint32, before, after unsafe.Pointer)) {
	for i := range max(len(older.top), len(newer.top)) {
		a, b := older.branch(i), newer.branch(i)
		if a == b {
			continue
		}
		for j := range 1 << branchBits {
			x, y := a.chunk(j), b.chunk(j)
			if x == y {
				continue
			}
			for k := range 1 << chunkBits {
				if before, after := x.node(k), y.node(k); before != after {
					each(uint32(i<<topBits|j<<chunkBits|k), before, after)
				}
			}
		}
	}
}

func (a *tree) branch(i int) *branch {
	if i < len(a.top) {
		return a.top[i]
	}
	return nil
}

func (b *branch) chunk(j int) *chunk {
	if b != nil {
		return b.chunks[j]
	}
	return nil
}

func (c *chunk) node(k int) unsafe.Pointer {
	if c != nil {
		return c.nodes[k]
	}
	return nil
}
