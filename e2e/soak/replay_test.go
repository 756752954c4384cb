package soak

import (
	"cmp"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// replay folds a follower's changes from empty, and finds fault with any that does not fit what was told before. It knows
// nothing of the store. This is done as they come: a log of minutes would fill the memory.
//
// Every write gives its object the serial number after the one before, across deletions, too. So outside of lists a
// missing number is a lost event. There, too, an event does exactly what it says: a change of what is not held means that a
// list or an event was lost before.
type replay struct {
	selective bool // a selector hides some of the writes: serial numbers may leave some out
	held      map[lw.Key]*lw.Object
	serials   map[lw.Key]int // of the last state known; not of objects that were absent when a list said so
	listing   bool           // a list has begun, and is not complete
}

func newReplay(selective bool) *replay {
	return &replay{selective: selective, held: map[lw.Key]*lw.Object{}, serials: map[lw.Key]int{}}
}

var effects = map[lw.EventType]cache.ChangeType{lw.Added: cache.Added, lw.Modified: cache.Modified, lw.Deleted: cache.Deleted}

// step takes one event with its changes.
func (r *replay) step(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) error {
	switch {
	case event.Type == lw.ListStarted:
		r.listing = true
	case event.Object != nil && !r.listing && (len(changes) != 1 || changes[0].Type != effects[event.Type]):
		return fmt.Errorf("%v of %v: %d changes, where one %v is due", event.Type, event.Object.Key(), len(changes), effects[event.Type])
	}
	for _, change := range changes {
		if err := r.apply(change); err != nil {
			return fmt.Errorf("%v with %v", err, event.Type)
		}
	}
	if event.Type == lw.Synced {
		r.listing = false
		for key := range r.serials {
			if r.held[key] == nil {
				delete(r.serials, key) // it may have come and gone again unseen
			}
		}
	}
	return nil
}

func (r *replay) apply(d cache.Change[*lw.Object]) error {
	object := d.New
	if d.Type == cache.Deleted {
		object = d.Old
	}
	key := object.Key()
	held := r.held[key]
	switch {
	case (held != nil) == (d.Type == cache.Added):
		return fmt.Errorf("%v of %v, held before: %v", d.Type, key, held != nil)
	case (d.Type == cache.Modified || d.FinalStateUnknown) && d.Old != held:
		return fmt.Errorf("%v of %v: the old object is not the one held", d.Type, key)
	case d.FinalStateUnknown && !r.listing:
		return fmt.Errorf("%v of %v: missed, outside of a list", d.Type, key)
	case d.Type != cache.Added && !d.FinalStateUnknown && !r.listing && !older(held, object):
		return fmt.Errorf("%v of %v from version %s to %s", d.Type, key, held.GetResourceVersion(), object.GetResourceVersion())
	}
	if err := r.number(d, object); err != nil {
		return err
	}
	if r.held[key] = object; d.Type == cache.Deleted {
		delete(r.held, key)
	}
	return nil
}

// number checks that no state of the object was left out, and none told twice.
func (r *replay) number(d cache.Change[*lw.Object], object *lw.Object) error {
	key := object.Key()
	serial, err := strconv.Atoi(object.Get("data.serial").String())
	if err != nil {
		return fmt.Errorf("%v of %v: %v", d.Type, key, err)
	}
	last, known := r.serials[key]
	r.serials[key] = serial
	if !known || r.listing {
		return nil
	}
	right := serial == last+1 || r.selective && serial > last
	if d.Type == cache.Deleted {
		right = serial == last // a deletion is no new state
	}
	if !right {
		return fmt.Errorf("%v of %v: number %d comes after %d", d.Type, key, serial, last)
	}
	return nil
}

// older compares the versions of two states of one object as the numbers that they are on this server.
func older(a, b *lw.Object) bool {
	va, vb := a.GetResourceVersion(), b.GetResourceVersion()
	return cmp.Or(cmp.Compare(len(va), len(vb)), cmp.Compare(va, vb)) < 0
}

type (
	event   = lw.Event[*lw.Object]
	changes = []cache.Change[*lw.Object]
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
	require.NoError(t, r.step(event{Type: lw.ListStarted}, nil))
	require.NoError(t, r.step(event{Type: lw.Added, Object: held}, changes{{Type: cache.Added, New: held}}))
	require.NoError(t, r.step(event{Type: lw.Synced}, nil))
	return r, held
}

func TestReplayAcceptsHistory(t *testing.T) {
	r, four := listed(t, false)
	five, six := object(t, "a", 5), object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, changes{{Type: cache.Modified, Old: four, New: five}}))
	gone, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"101"},"data":{"serial":"5"}}`))
	require.NoError(t, err)
	require.NoError(t, r.step(event{Type: lw.Deleted}, changes{{Type: cache.Deleted, Old: gone}}))
	require.NoError(t, r.step(event{Type: lw.Added}, changes{{Type: cache.Added, New: six}}))
	require.NoError(t, r.step(event{Type: lw.ListStarted}, nil))
	require.NoError(t, r.step(event{Type: lw.Synced}, changes{{Type: cache.Deleted, Old: six, FinalStateUnknown: true}}))
	nine := object(t, "a", 9) // it was there with other numbers while nobody watched
	require.NoError(t, r.step(event{Type: lw.Added}, changes{{Type: cache.Added, New: nine}}))
	require.Equal(t, map[lw.Key]*lw.Object{{Name: "a"}: nine}, r.held)
}

func TestReplayFindsFault(t *testing.T) {
	for what, wrong := range map[string]func(t *testing.T, held *lw.Object) cache.Change[*lw.Object]{
		"an object added twice": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Added, New: object(t, "a", 5)}
		},
		"an update of nothing": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Modified, Old: object(t, "b", 1), New: object(t, "b", 2)}
		},
		"a deletion of nothing": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Deleted, Old: object(t, "b", 1)}
		},
		"an update of another state than the one held": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Modified, Old: object(t, "a", 4), New: object(t, "a", 5)}
		},
		"an update to an older state": func(t *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Modified, Old: held, New: object(t, "a", 3)}
		},
		"an event left out": func(t *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Modified, Old: held, New: object(t, "a", 6)}
		},
		"an event left out before a deletion": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Deleted, Old: object(t, "a", 5)}
		},
		"a deletion missed though no list was made": func(_ *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: cache.Deleted, Old: held, FinalStateUnknown: true}
		},
	} {
		t.Run(what, func(t *testing.T) {
			r, held := listed(t, false)
			require.Error(t, r.step(event{Type: lw.Modified}, changes{wrong(t, held)}))
		})
	}
}

// TestReplayHoldsEventsAgainstDeltas: outside of lists each event does one thing, and that which it says.
func TestReplayHoldsEventsAgainstDeltas(t *testing.T) {
	for _, wrong := range []changes{nil, {{Type: cache.Added, New: object(t, "b", 1)}}} {
		r, _ := listed(t, false)
		require.Error(t, r.step(event{Type: lw.Modified, Object: object(t, "b", 1)}, wrong))
	}
}

// TestReplayBehindASelector: writes that it hides are no lost events, but no state comes twice.
func TestReplayBehindASelector(t *testing.T) {
	r, four := listed(t, true)
	six := object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, changes{{Type: cache.Modified, Old: four, New: six}}))
	require.Error(t, r.step(event{Type: lw.Modified}, changes{{Type: cache.Modified, Old: six, New: object(t, "a", 6)}}))
}
