package soak

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

type (
	event  = lw.Event[*lw.Object]
	deltas = []cache.Delta[*lw.Object]
)

// object is one state of an object, with a version that goes with its number.
func object(t *testing.T, name string, serial int) *lw.Object {
	o, err := lw.ParseObject(fmt.Appendf(nil, `{"metadata":{"name":%q,"resourceVersion":"%d"},"data":{"serial":"%d"}}`, name, 95+serial, serial))
	require.NoError(t, err)
	return o
}

// listed is a replay that was told of one object, a with number 4, by a list.
func listed(t *testing.T, selective bool) (r *replay, held *lw.Object) {
	r, held = newReplay(selective), object(t, "a", 4)
	require.NoError(t, r.step(event{Type: lw.Reset}, nil))
	require.NoError(t, r.step(event{Type: lw.Added, Object: held}, deltas{{Type: cache.Added, New: held}}))
	require.NoError(t, r.step(event{Type: lw.Synced}, nil))
	return r, held
}

func TestReplayAcceptsHistory(t *testing.T) {
	r, four := listed(t, false)
	five, six := object(t, "a", 5), object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, deltas{{Type: cache.Updated, Old: four, New: five}}))
	gone, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"101"},"data":{"serial":"5"}}`))
	require.NoError(t, err)
	require.NoError(t, r.step(event{Type: lw.Deleted}, deltas{{Type: cache.Deleted, Old: gone}}))
	require.NoError(t, r.step(event{Type: lw.Added}, deltas{{Type: cache.Added, New: six}}))
	require.NoError(t, r.step(event{Type: lw.Reset}, nil))
	require.NoError(t, r.step(event{Type: lw.Synced}, deltas{{Type: cache.Deleted, Old: six, Missed: true}}))
	nine := object(t, "a", 9) // it was there with other numbers while nobody watched
	require.NoError(t, r.step(event{Type: lw.Added}, deltas{{Type: cache.Added, New: nine}}))
	require.Equal(t, map[lw.Key]*lw.Object{{Name: "a"}: nine}, r.held)
}

func TestReplayFindsFault(t *testing.T) {
	for what, wrong := range map[string]func(t *testing.T, held *lw.Object) cache.Delta[*lw.Object]{
		"an object added twice": func(t *testing.T, _ *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Added, New: object(t, "a", 5)}
		},
		"an update of nothing": func(t *testing.T, _ *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Updated, Old: object(t, "b", 1), New: object(t, "b", 2)}
		},
		"a deletion of nothing": func(t *testing.T, _ *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Deleted, Old: object(t, "b", 1)}
		},
		"an update of another state than the one held": func(t *testing.T, _ *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Updated, Old: object(t, "a", 4), New: object(t, "a", 5)}
		},
		"an update to an older state": func(t *testing.T, held *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Updated, Old: held, New: object(t, "a", 3)}
		},
		"an event left out": func(t *testing.T, held *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Updated, Old: held, New: object(t, "a", 6)}
		},
		"an event left out before a deletion": func(t *testing.T, _ *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Deleted, Old: object(t, "a", 5)}
		},
		"a deletion missed though no list was made": func(_ *testing.T, held *lw.Object) cache.Delta[*lw.Object] {
			return cache.Delta[*lw.Object]{Type: cache.Deleted, Old: held, Missed: true}
		},
	} {
		t.Run(what, func(t *testing.T) {
			r, held := listed(t, false)
			require.Error(t, r.step(event{Type: lw.Modified}, deltas{wrong(t, held)}))
		})
	}
}

// TestReplayHoldsEventsAgainstDeltas: outside of lists each event does one thing, and that which it says.
func TestReplayHoldsEventsAgainstDeltas(t *testing.T) {
	for _, wrong := range []deltas{nil, {{Type: cache.Added, New: object(t, "b", 1)}}} {
		r, _ := listed(t, false)
		require.Error(t, r.step(event{Type: lw.Modified, Object: object(t, "b", 1)}, wrong))
	}
}

// TestReplayBehindASelector: writes that it hides are no lost events, but no state comes twice.
func TestReplayBehindASelector(t *testing.T) {
	r, four := listed(t, true)
	six := object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, deltas{{Type: cache.Updated, Old: four, New: six}}))
	require.Error(t, r.step(event{Type: lw.Modified}, deltas{{Type: cache.Updated, Old: six, New: object(t, "a", 6)}}))
}
