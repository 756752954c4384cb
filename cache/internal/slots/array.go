package slots

// An array is a tree of fixed height, so that a write after a snapshot copies only one inner node per level. In a
// [Vector] with a million slots, these copies take about 1.6 kB. A single list of all chunks would take about 60 kB.
const (
	chunkBits, branchBits = 4, 6
	topBits               = chunkBits + branchBits

	chunkMask, branchMask = 1<<chunkBits - 1, 1<<branchBits - 1
)

// array maps indexes to nodes, like a slice whose snapshots are cheap. The zero value is empty.
type array[N any] struct {
	top   []*branch[N]
	epoch uint64 // epoch in which top was created
}

// branch and chunk are the inner nodes of an array. Each records the epoch in which it was created.
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

// set stores a node at an index. It creates missing inner nodes, and copies inner nodes from earlier epochs. epoch is
// the writer's current epoch.
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

// all calls each for every node, in the order of the indexes, until each returns false. It reports whether it visited
// all nodes.
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
