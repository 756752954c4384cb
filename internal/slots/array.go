package slots

// An array is a tree of a fixed height whose inner nodes are small, so that a write after a snapshot copies little, however
// much there is: of a million slots a chunk, a branch and a top of 2 kB, where one flat top would be 60 kB.
const (
	chunkBits, branchBits = 4, 5
	topBits               = chunkBits + branchBits

	chunkMask, branchMask = 1<<chunkBits - 1, 1<<branchBits - 1
)

// array leads from places, which are numbers from zero, to nodes. The zero value is empty.
type array[N any] struct {
	top   []*branch[N]
	epoch uint64 // that made top
}

type branch[N any] struct {
	epoch  uint64
	chunks [1 << branchBits]*chunk[N]
}

type chunk[N any] struct {
	epoch uint64
	nodes [1 << chunkBits]*N
}

// get returns the node at a place; nil if there is none.
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

// set puts a node to a place. What leads there is made or, if it belongs to an earlier epoch, copied.
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

// all calls each with every node, by ascending places, until it returns false. It returns whether all were seen.
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

// changed calls each with every place at which two states of one array have not the same node. What both have is skipped.
func changed[N any](older, newer *array[N], each func(at uint32, before, after *N)) {
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

func (a *array[N]) branch(i int) *branch[N] {
	if i < len(a.top) {
		return a.top[i]
	}
	return nil
}

func (b *branch[N]) chunk(j int) *chunk[N] {
	if b != nil {
		return b.chunks[j]
	}
	return nil
}

func (c *chunk[N]) node(k int) *N {
	if c != nil {
		return c.nodes[k]
	}
	return nil
}
