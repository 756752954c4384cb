package slots

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A set must have the right members for every order of insertions, even if snapshots are taken between the writes.
func TestLargeSets(t *testing.T) {
	const n = 20_000 // enough for a tree of three levels
	up := make([]uint32, n)
	for i := range up {
		up[i] = uint32(i * 3)
	}
	down, mixed := slices.Clone(up), slices.Clone(up)
	slices.Reverse(down)
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(n, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for name, order := range map[string][]uint32{"up": up, "down": down, "mixed": mixed} {
		var s Set
		epoch, half := uint64(0), Set{}
		for i, slot := range order {
			if s.Insert(epoch, slot); i == n/2 {
				half = s
				epoch++
			}
		}
		requireMembers(t, name, s, up)
		requireMembers(t, name, half, slices.Sorted(slices.Values(order[:n/2+1])))
		whole := s
		epoch++
		for i, slot := range order {
			s.Remove(epoch, slot+1) // not a member
			if s.Remove(epoch, slot); i == n/2 {
				requireMembers(t, name, s, slices.Sorted(slices.Values(order[n/2+1:])))
			}
		}
		requireMembers(t, name, s, nil)
		requireMembers(t, name, whole, up)
	}
}

func requireMembers(t *testing.T, name string, s Set, want []uint32) {
	t.Helper()
	var members []uint32
	s.All(func(slot uint32) bool { members = append(members, slot); return true })
	require.True(t, slices.Equal(want, members), name)
	require.Equal(t, len(want), s.Len(), name)
}

// A list inserts its objects mostly in ascending order. If these insertions left the nodes half full, the set would use
// twice the memory.
func TestSequentialInsertFillsNodes(t *testing.T) {
	var s Set
	for i := range uint32(nodeSize * nodeSize) {
		s.Insert(0, i)
	}
	require.Len(t, s.root.children, nodeSize)
	for _, leaf := range s.root.children {
		require.Len(t, leaf.members, nodeSize)
	}
}

// The number of bytes that a write copies after a snapshot must not depend on the number of elements.
func TestWriteAfterSnapshotCopiesLittle(t *testing.T) {
	const n = 1 << 18
	var v Vector[*int]
	var table Table
	var s Set
	hash := hashes["distinct hashes"]
	for i := range uint32(n) {
		v.Insert(0, new(int))
		table.Insert(0, hash(i), i)
		s.Insert(0, i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, write := range map[string]func(epoch uint64, slot uint32){
		"vector": func(epoch uint64, slot uint32) { v.Set(epoch, slot, nil) },
		"table": func(epoch uint64, slot uint32) {
			table.Remove(epoch, hash(slot), slot)
			table.Insert(epoch, hash(slot), slot)
		},
		"set": func(epoch uint64, slot uint32) {
			s.Remove(epoch, slot)
			s.Insert(epoch, slot)
		},
	} {
		const times = 1000
		before := allocated()
		for i := range uint64(times) {
			write(i+1, random.Uint32N(n)) // each write has a new epoch, as if a snapshot had been taken before the write
		}
		each := (allocated() - before) / times
		t.Logf("%s: %d bytes", name, each)
		require.Less(t, each, uint64(3000), name)
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}
