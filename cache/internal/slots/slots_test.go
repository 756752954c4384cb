package slots

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// model applies the same operations to a Vector, a Table, a Set and Go maps, so that a test can compare them.
type model struct {
	t        *testing.T
	hash     func(key uint32) uint32
	epoch    uint64
	elements Vector[uint32] // maps a slot to its key
	table    Table
	set      Set // slots whose key is odd

	slots map[uint32]uint32 // maps a key to its slot
	most  int               // maximum size of slots
	kept  []keptSnapshot
}

// keptSnapshot is a snapshot with a copy of model.slots, which it must match.
type keptSnapshot struct {
	elements Vector[uint32]
	table    Table
	set      Set
	slots    map[uint32]uint32
}

func (m *model) insert(key uint32) {
	slot := m.elements.Insert(m.epoch, key)
	require.Less(m.t, slot, uint32(m.elements.Size()))
	m.most = max(m.most, len(m.slots)+1)
	require.Equal(m.t, m.most, m.elements.Size(), "Insert must reuse empty slots")
	m.slots[key] = slot
	m.table.Insert(m.epoch, m.hash(key), slot)
	if key%2 == 1 {
		m.set.Insert(m.epoch, slot)
	}
}

func (m *model) remove(key uint32) {
	slot := m.slots[key]
	m.elements.Clear(m.epoch, slot)
	m.table.Remove(m.epoch, m.hash(key), slot)
	if key%2 == 1 {
		m.set.Remove(m.epoch, slot)
	}
	delete(m.slots, key)
}

func (m *model) keep() {
	m.kept = append(m.kept, keptSnapshot{m.elements, m.table, m.set, maps.Clone(m.slots)})
	m.epoch++
}

func (m *model) check(h keptSnapshot) {
	t := m.t
	seen := map[uint32]uint32{}
	h.elements.All(func(slot, key uint32) bool { seen[key] = slot; return true })
	require.Equal(t, h.slots, seen)
	var odd, members []uint32
	for key, slot := range h.slots {
		if key%2 == 1 {
			odd = append(odd, slot)
		}
		got, ok := h.find(m, key)
		require.True(t, ok, "the set must contain key %d", key)
		require.Equal(t, slot, got)
	}
	_, ok := h.find(m, 1<<31)
	require.False(t, ok)
	h.set.All(func(slot uint32) bool { members = append(members, slot); return true })
	slices.Sort(odd)
	require.Equal(t, odd, members)
	require.Equal(t, len(odd), h.set.Len())
}

func (h *keptSnapshot) find(m *model, key uint32) (uint32, bool) {
	return h.table.Find(m.hash(key), func(slot uint32) bool {
		got, ok := h.elements.Get(slot)
		return ok && got == key
	})
}

// runModel executes the operations encoded in steps, then checks all snapshots.
func runModel(t *testing.T, steps []byte, hash func(uint32) uint32) {
	m := &model{t: t, hash: hash, slots: map[uint32]uint32{}}
	next := uint32(0)
	for i := 0; i+1 < len(steps); i += 2 {
		switch op, n := steps[i]%16, uint32(steps[i+1]); {
		case op == 0:
			m.keep()
		case op < 3: // inserts up to 255 keys at once, so that nodes and pages are split
			for range n {
				m.insert(next)
				next++
			}
		case op < 8:
			m.insert(next)
			next++
		default:
			for key := n; key < next; key++ {
				if _, ok := m.slots[key]; ok {
					m.remove(key)
					break
				}
			}
		}
	}
	m.keep()
	for _, h := range m.kept {
		m.check(h)
	}
}

var hashes = map[string]func(uint32) uint32{
	"distinct hashes":      func(key uint32) uint32 { return key * 2654435761 },
	"equal hashes":         func(uint32) uint32 { return 0xdeadbeef },
	"five distinct hashes": func(key uint32) uint32 { return key % 5 << 30 },
	"small hashes":         func(key uint32) uint32 { return key },
}

// Later writes must not change a snapshot, even if many keys have the same hash.
func TestSnapshotsStayUnchanged(t *testing.T) {
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				random := rand.New(rand.NewPCG(seed, 0))
				steps := make([]byte, 100)
				for i := range steps {
					steps[i] = byte(random.Uint32())
				}
				runModel(t, steps, hash)
			}
		})
	}
}

func FuzzSnapshots(f *testing.F) {
	f.Add([]byte{1, 255, 0, 0, 1, 255, 9, 1, 9, 2, 0, 0, 9, 3})
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 400 {
			return
		}
		for _, hash := range hashes {
			runModel(t, steps, hash)
		}
	})
}

func TestAllStopsEarly(t *testing.T) {
	var v Vector[int]
	var s Set
	for i := range uint32(200) {
		v.Insert(0, 1)
		s.Insert(0, i)
	}
	n := 0
	require.False(t, v.All(func(uint32, int) bool { n++; return n < 70 }))
	require.False(t, s.All(func(uint32) bool { n++; return n < 140 }))
	require.Equal(t, 140, n)
}
