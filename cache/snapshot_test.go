package cache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// If Snapshot returns the same pointer, a caller knows that the store is unchanged.
func TestUnchangedSnapshotIsReused(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		empty := s.store.Snapshot()
		require.Same(t, empty, s.store.Snapshot())
		s.run("list@3 a/x@1 a/y@3")
		first := s.store.Snapshot()
		require.NotSame(t, empty, first)
		require.Zero(t, empty.Len())

		s.run("list@3 a/y@3 a/x@1", "watch ~a/y@3 -b/z@3")
		require.Same(t, first, s.store.Snapshot(), "events without changes must not cause a new snapshot")
		s.run("list@3 a/x@1 a/y@3", "watch =5")
		bookmarked := s.store.Snapshot()
		require.Equal(t, []string{"3", "5"}, []string{first.ResourceVersion(), bookmarked.ResourceVersion()})
		require.Equal(t, names(first.All()), names(bookmarked.All()))
	})
}

// During a list, a snapshot must show the state before the list, even after an interruption.
func TestSnapshotsHidePartialLists(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		var shown []string
		show := func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			snapshot := s.store.Snapshot()
			shown = append(shown, fmt.Sprint(snapshot.ResourceVersion(), names(snapshot.All())))
			return true
		}
		s.onEvent = show
		s.run("list x@1 !reset", "list@2 x@1 y@2")
		require.Equal(t, []string{"[]", "2[x y]"}, slices.Compact(shown))
		shown = nil
		s.run("list x@1 z@3 !reset", "list@9 x@8 z@3", "watch -z@10")
		require.Equal(t, []string{"2[x y]", "9[x z]", "10[x]"}, slices.Compact(shown))
	})
}

// A relist can change objects at the same resourceVersion, for example after a backup is restored.
func TestSnapshotsOfSameVersion(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	writer.Replace("1", object("x@1"))
	require.Equal(t, []string{"x"}, names(store.Snapshot().All()))
	writer.Replace("1", object("y@1"))
	require.Equal(t, []string{"y"}, names(store.Snapshot().All()))
}

// A snapshot that is taken after NewIndex must include the index. Otherwise each call of In would rebuild the index.
func TestSnapshotsIncludeIndexes(t *testing.T) {
	books, writer := newLibrary()
	writer.Put(&book{isbn: "1", year: 7})
	books.Snapshot()
	asked := 0
	byYear := NewIndex(books, func(b *book, to []int) []int {
		asked++
		return append(to, b.year)
	})
	taken := books.Snapshot()
	asked = 0
	require.Equal(t, 1, len(byYear.In(taken).List(7)))
	require.Zero(t, asked)
}

// A store that lost most of its objects must free memory. Earlier snapshots must not change.
func TestShrink(t *testing.T) {
	books, writer := newLibrary()
	byYear := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year) })
	const n = 10_000
	for i := range n {
		writer.Put(&book{isbn: strconv.Itoa(i), year: i % 100})
	}
	before := books.Snapshot()
	for i := range n - 100 {
		writer.Delete(lw.Key{Name: strconv.Itoa(i)})
	}
	require.Less(t, books.state.objects.Size(), n/2)
	require.Equal(t, 100, books.Len())
	for i := n - 100; i < n; i++ {
		b, ok := books.Get(lw.Key{Name: strconv.Itoa(i)})
		require.True(t, ok)
		require.Equal(t, []*book{b}, byYear.List(b.year))
	}
	require.Equal(t, n, before.Len())
	require.Equal(t, n/100, len(byYear.In(before).List(7)))
}

// A list records the slots of its objects, so objects must not move to other slots before the list ends.
func TestShrinkAfterList(t *testing.T) {
	books, writer := newLibrary()
	for i := range 10_000 {
		writer.Put(&book{isbn: strconv.Itoa(i)})
	}
	last := &book{isbn: "9999"}
	require.Len(t, writer.Replace("", last), 10_000)
	require.EqualValues(t, 1, books.state.objects.Size())
	require.Equal(t, []*book{last}, books.List())
}

// snapshotModel applies the same operations to a store and to maps, and compares the store and its snapshots with the
// maps.
type snapshotModel struct {
	t       *testing.T
	books   *Store[*book]
	writer  *Writer[*book]
	byYear  *Index[*book, int]
	byFirst *Index[*book, string] // index that the test recreates occasionally
	model   map[string]*book
	listing map[string]*book // objects of the current list, or nil if no list is in progress
	kept    []snapshotCopy
}

type snapshotCopy struct {
	snapshot *Snapshot[*book]
	model    map[string]*book
}

func byFirst(b *book, to []string) []string { return append(to, b.isbn[:1], b.isbn[len(b.isbn)-1:]) }

func newSnapshotModel(t *testing.T) *snapshotModel {
	s := &snapshotModel{t: t, model: map[string]*book{}}
	s.books, s.writer = newLibrary()
	s.byYear = NewIndex(s.books, func(b *book, to []int) []int { return append(to, b.year) })
	s.byFirst = NewIndex(s.books, byFirst)
	return s
}

// step executes the operation that op and n encode.
func (s *snapshotModel) step(op, n byte) {
	b := &book{isbn: strconv.Itoa(int(n % 120)), year: int(n) / 8}
	switch op % 16 {
	case 0, 1, 2:
		s.keep()
	case 3:
		s.byFirst = NewIndex(s.books, byFirst)
	case 4:
		applyAll(s.books, lw.Event[*book]{Type: lw.ListStarted})
		s.listing = map[string]*book{}
	case 5:
		applyAll(s.books, lw.Event[*book]{Type: lw.Synced, ResourceVersion: strconv.Itoa(int(n))})
		if s.listing != nil {
			s.model = s.listing
		}
		s.listing = nil
	case 6, 7, 8, 9:
		s.writer.Delete(lw.Key{Name: b.isbn})
		delete(s.model, b.isbn)
		delete(s.listing, b.isbn)
	default:
		s.writer.Put(b)
		s.model[b.isbn] = b
		if s.listing != nil {
			s.listing[b.isbn] = b
		}
	}
}

// keep takes a snapshot. It stores the snapshot with a copy of the model, except during a list, when the snapshot shows
// the state before the list.
func (s *snapshotModel) keep() {
	snapshot := s.books.Snapshot()
	require.Same(s.t, snapshot, s.books.Snapshot())
	if s.listing == nil {
		s.kept = append(s.kept, snapshotCopy{snapshot, maps.Clone(s.model)})
	}
}

func (s *snapshotModel) check(h snapshotCopy) {
	t := s.t
	require.Equal(t, len(h.model), h.snapshot.Len())
	byYear, first := s.byYear.In(h.snapshot), s.byFirst.In(h.snapshot)
	years, n := map[int]int{}, 0
	for _, b := range h.model {
		found, ok := h.snapshot.Get(lw.Key{Name: b.isbn})
		require.True(t, ok && found == b)
		require.Contains(t, byYear.List(b.year), b)
		require.Contains(t, first.List(b.isbn[:1]), b)
		years[b.year]++
	}
	for year, count := range years {
		require.Equal(t, count, len(byYear.List(year)))
	}
	require.Len(t, byYear.Keys(), len(years))
	for range h.snapshot.All() {
		n++
	}
	require.Equal(t, len(h.model), n)
	_, ok := h.snapshot.Get(lw.Key{Name: "none"})
	require.False(t, ok)
}

func runSnapshotModel(t *testing.T, steps []byte) {
	s := newSnapshotModel(t)
	for i := 0; i+1 < len(steps); i += 2 {
		s.step(steps[i], steps[i+1])
	}
	s.step(5, 0)
	s.keep()
	for _, h := range s.kept {
		s.check(h)
	}
}

// Later writes must not change snapshots or their indexes. Diff must return the changes between two snapshots.
func TestSnapshotsStayUnchanged(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		steps := make([]byte, 500)
		for i := range steps {
			steps[i] = byte(random.Uint32())
		}
		runSnapshotModel(t, steps)
	}
}

func FuzzSnapshotsStayUnchanged(f *testing.F) {
	f.Add([]byte{15, 1, 15, 2, 0, 0, 6, 1, 15, 3, 0, 0, 4, 0, 15, 9, 5, 7, 0, 0})
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) <= 1000 {
			runSnapshotModel(t, steps)
		}
	})
}
