package revlog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCollectionsShareRevisions(t *testing.T) {
	l := New[string]()
	require.EqualValues(t, 1, l.Revision(), "a new log must have revision 1, like an empty etcd")
	for i, name := range []string{"a", "b", "a"} {
		require.EqualValues(t, i+2, l.Put(name, fmt.Sprint(i), "x").Revision)
	}
	require.EqualValues(t, 4, l.Revision())
}

func TestAdvanceSkipsRevisions(t *testing.T) {
	l := New[string]()
	l.Advance(9)
	l.Advance(5)
	require.EqualValues(t, 9, l.Revision())
	require.EqualValues(t, 10, l.Put("c", "k", "x").Revision)
	require.Empty(t, keys(t, l, "", 9))
	cursor, err := l.Watch("c", 7)
	require.NoError(t, err)
	events, err := cursor.Next(5)
	require.NoError(t, err)
	require.Len(t, events, 1)
}

func TestPutReplacesExistingEntry(t *testing.T) {
	l := New[string]()
	first := l.Put("c", "k", "1")
	second := l.Put("c", "k", "2")
	require.Equal(t, first.Revision+1, second.Revision)
	got, ok := l.Get("c", "k")
	require.True(t, ok)
	require.Equal(t, Entry[string]{"k", second.Revision, "2"}, got)
}

func TestDeletingMissingKeyChangesNothing(t *testing.T) {
	l := New[string]()
	e := l.Put("c", "k", "1")
	require.False(t, l.Delete("c", "x", ""), "no such key")
	require.False(t, l.Delete("x", "k", ""), "no such collection")
	require.Equal(t, e.Revision, l.Revision())
	got, ok := l.Get("c", "k")
	require.True(t, ok)
	require.Equal(t, e, got)
}

func TestPrefixSelectsKeysInOrder(t *testing.T) {
	l := New[string]()
	for _, key := range []string{"b/2", "a/1", "b/10", "b-/1", "b/1", "c/1"} {
		l.Put("c", key, "")
	}
	require.True(t, l.Delete("c", "b/10", ""))
	require.Equal(t, []string{"b/1", "b/2"}, keys(t, l, "b/", l.Revision()))
	require.Equal(t, []string{"b/1", "b/10", "b/2"}, keys(t, l, "b/", l.Revision()-1))
	require.Equal(t, []string{"a/1", "b-/1", "b/1", "b/2", "c/1"}, keys(t, l, "", l.Revision()))
}

func TestCompactionMakesOldRevisionsUnreadable(t *testing.T) {
	l := New[string]()
	for i := range 5 {
		l.Put("c", fmt.Sprint(i), "")
	}
	l.Compact(4)
	l.Compact(3) // does nothing, because revision 4 is already compacted
	require.EqualValues(t, 4, l.Compacted())
	for revision, want := range map[int64]error{3: ErrCompacted, 4: nil, 6: nil, 7: ErrFuture} {
		_, err := l.At("c", "", revision)
		require.ErrorIs(t, err, want, "state at revision %d", revision)
	}
	_, err := l.Watch("c", 3)
	require.ErrorIs(t, err, ErrCompacted)
	c, err := l.Watch("c", 4)
	require.NoError(t, err)
	events, err := c.Next(10)
	require.NoError(t, err)
	require.Len(t, events, 2)
	l.Compact(100)
	require.EqualValues(t, 6, l.Compacted(), "compaction must stop at the latest revision")
}

func TestSlowCursorLosesCompactedEvents(t *testing.T) {
	l := New[string]()
	lagging, err := l.Watch("c", l.Revision())
	require.NoError(t, err)
	quiet, err := l.Watch("quiet", l.Revision())
	require.NoError(t, err)
	for i := range 3 {
		l.Put("c", fmt.Sprint(i), "")
	}
	_, err = lagging.Next(2)
	require.NoError(t, err)
	l.Compact(l.Revision())
	_, err = lagging.Next(2)
	require.ErrorIs(t, err, ErrCompacted)
	events, err := quiet.Next(2)
	require.NoError(t, err, "a cursor must survive a compaction that removes none of its events")
	require.Empty(t, events)
	require.Equal(t, l.Revision(), quiet.Revision())
}

func TestFutureCursorSkipsEarlierEvents(t *testing.T) {
	for _, ahead := range []int64{2, 1<<63 - 1} {
		l := New[string]()
		c, err := l.Watch("c", ahead)
		require.NoError(t, err)
		for i := range 3 {
			l.Put("c", fmt.Sprint(i), "")
		}
		events, err := c.Next(10)
		require.NoError(t, err)
		for _, e := range events {
			require.Greater(t, e.Entry.Revision, ahead)
		}
		require.Equal(t, max(ahead, l.Revision()), c.Revision())
	}
}

func TestReturnedEventsSurviveCompaction(t *testing.T) {
	l := New[string]()
	c, err := l.Watch("c", l.Revision())
	require.NoError(t, err)
	l.Put("c", "k", "v")
	events, err := c.Next(10)
	require.NoError(t, err)
	l.Compact(l.Revision())
	require.Equal(t, "v", events[0].Entry.Value)
}

// FuzzStateEqualsReplayedEvents checks that the state at each readable revision equals the recorded state. Replaying
// the events after that revision must produce the latest state.
func FuzzStateEqualsReplayedEvents(f *testing.F) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ops := make([]byte, 40*int(seed))
		for i := range ops {
			ops[i] = byte(rng.Uint32())
		}
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		l := New[int]()
		model := map[string]Entry[int]{}
		history := map[int64][]Entry[int]{l.Revision(): nil}
		for i, op := range ops {
			apply(t, l, model, op, i)
			if _, ok := history[l.Revision()]; !ok {
				history[l.Revision()] = sorted(model)
			}
		}
		for from := l.Compacted(); from <= l.Revision(); from++ {
			if from == 0 {
				continue
			}
			state, err := l.At("c", "", from)
			require.NoError(t, err)
			require.Equal(t, history[from], state, "state at revision %d", from)
			require.Equal(t, history[l.Revision()], replay(t, l, from, state), "replay from revision %d", from)
		}
		if l.Compacted() > 0 {
			_, err := l.At("c", "", l.Compacted()-1)
			require.ErrorIs(t, err, ErrCompacted)
		}
	})
}

// apply performs the operation op on the log and on the model.
func apply(t *testing.T, l *Log[int], model map[string]Entry[int], op byte, value int) {
	key := string('a' + rune(op>>3%8))
	switch op % 8 {
	case 0, 1, 2, 3, 4:
		model[key] = l.Put("c", key, value)
	case 5:
		_, exists := model[key]
		require.Equal(t, exists, l.Delete("c", key, value))
		delete(model, key)
	case 6:
		l.Put("other", fmt.Sprint(value), value)
	case 7:
		l.Compact(l.Revision() - int64(op>>3))
	}
}

// replay applies the events after revision to state, and returns the resulting state.
func replay(t *testing.T, l *Log[int], revision int64, state []Entry[int]) []Entry[int] {
	now := map[string]Entry[int]{}
	for _, e := range state {
		now[e.Key] = e
	}
	c, err := l.Watch("c", revision)
	require.NoError(t, err)
	for {
		events, err := c.Next(3)
		require.NoError(t, err)
		if len(events) == 0 {
			require.Equal(t, l.Revision(), c.Revision())
			return sorted(now)
		}
		for _, e := range events {
			old, had := now[e.Entry.Key]
			require.Equal(t, e.Type != Created, had)
			require.Equal(t, e.Prev, old)
			if e.Type == Deleted {
				delete(now, e.Entry.Key)
			} else {
				now[e.Entry.Key] = e.Entry
			}
		}
	}
}
