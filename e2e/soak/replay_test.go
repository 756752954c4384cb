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

// replay applies a follower's changes to its own map, independently of the store. It returns an error for an invalid
// change.
//
// Every write increments the serial number of its object, even a write that recreates a deleted object. If the number
// skips a value in a watch, an event was therefore lost. A list may skip values, because it contains only the latest
// state.
type replay struct {
	selective bool // whether a selector may hide writes, which allows gaps between serial numbers
	held      map[lw.Key]*lw.Object
	serials   map[lw.Key]int // latest serial number of each object; a list removes the objects that it does not contain
	listing   bool           // whether a list has started but is not complete
}

func newReplay(selective bool) *replay {
	return &replay{selective: selective, held: map[lw.Key]*lw.Object{}, serials: map[lw.Key]int{}}
}

var effects = map[lw.EventType]lw.EventType{lw.Added: lw.Added, lw.Modified: lw.Modified, lw.Deleted: lw.Deleted}

// step applies the changes of an event. It returns an error if a change is invalid or does not match the event.
func (r *replay) step(event lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) error {
	switch {
	case event.Type == lw.ListStarted:
		r.listing = true
	case event.Object != nil && !r.listing && (len(changes) != 1 || changes[0].Type != effects[event.Type]):
		return fmt.Errorf("%v event for %v has %d changes, expected one %v change", event.Type, lw.KeyOf(event.Object), len(changes), effects[event.Type])
	}
	for _, change := range changes {
		if err := r.apply(change); err != nil {
			return fmt.Errorf("%v, after a %v event", err, event.Type)
		}
	}
	if event.Type == lw.Synced {
		r.listing = false
		for key := range r.serials {
			if r.held[key] == nil {
				delete(r.serials, key) // the object may have been recreated and deleted without an event
			}
		}
	}
	return nil
}

func (r *replay) apply(d cache.Change[*lw.Object]) error {
	object := d.New
	if d.Type == lw.Deleted {
		object = d.Old
	}
	key := lw.KeyOf(object)
	held := r.held[key]
	switch {
	case (held != nil) == (d.Type == lw.Added):
		return fmt.Errorf("%v change for %v contradicts the earlier changes (object already known: %v)", d.Type, key, held != nil)
	case (d.Type == lw.Modified || d.FinalStateUnknown) && d.Old != held:
		return fmt.Errorf("%v change for %v: its old object differs from the last object received", d.Type, key)
	case d.FinalStateUnknown && !r.listing:
		return fmt.Errorf("%v change for %v: unexpected tombstone outside a list", d.Type, key)
	case d.Type != lw.Added && !d.FinalStateUnknown && !r.listing && !older(held, object):
		return fmt.Errorf("%v change for %v: the resourceVersion must increase, but changes from %s to %s", d.Type, key, held.GetResourceVersion(), object.GetResourceVersion())
	}
	if err := r.number(d, object); err != nil {
		return err
	}
	if r.held[key] = object; d.Type == lw.Deleted {
		delete(r.held, key)
	}
	return nil
}

// number returns an error if the serial number of object is invalid or does not follow the previous one. With a
// selector, number accepts gaps, because the selector may hide writes.
func (r *replay) number(d cache.Change[*lw.Object], object *lw.Object) error {
	key := lw.KeyOf(object)
	serial, err := strconv.Atoi(object.Get("data.serial").String())
	if err != nil {
		return fmt.Errorf("%v change for %v: invalid serial number: %v", d.Type, key, err)
	}
	last, known := r.serials[key]
	r.serials[key] = serial
	if !known || r.listing {
		return nil
	}
	right := serial == last+1 || r.selective && serial > last
	if d.Type == lw.Deleted {
		right = serial == last // a deletion does not increment the serial number
	}
	if !right {
		return fmt.Errorf("%v change for %v: unexpected serial number %d after %d", d.Type, key, serial, last)
	}
	return nil
}

// older reports whether a has a lower resourceVersion than b. All resourceVersions must be decimal numbers.
func older(a, b *lw.Object) bool {
	va, vb := a.GetResourceVersion(), b.GetResourceVersion()
	return cmp.Or(cmp.Compare(len(va), len(vb)), cmp.Compare(va, vb)) < 0
}

type (
	event   = lw.Event[*lw.Object]
	changes = []cache.Change[*lw.Object]
)

// object returns an object with the given name and serial number. Its resourceVersion is the serial number plus 95.
func object(t *testing.T, name string, serial int) *lw.Object {
	o, err := lw.ParseObject(fmt.Appendf(nil, `{"metadata":{"name":%q,"resourceVersion":"%d"},"data":{"serial":"%d"}}`, name, 95+serial, serial))
	require.NoError(t, err)
	return o
}

// listed returns a replay that has processed a list, and the only object of this list: "a" with serial number 4.
func listed(t *testing.T, selective bool) (r *replay, held *lw.Object) {
	r, held = newReplay(selective), object(t, "a", 4)
	require.NoError(t, r.step(event{Type: lw.ListStarted}, nil))
	require.NoError(t, r.step(event{Type: lw.Added, Object: held}, changes{{Type: lw.Added, New: held}}))
	require.NoError(t, r.step(event{Type: lw.Synced}, nil))
	return r, held
}

func TestReplayAcceptsHistory(t *testing.T) {
	r, four := listed(t, false)
	five, six := object(t, "a", 5), object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, changes{{Type: lw.Modified, Old: four, New: five}}))
	gone, err := lw.ParseObject([]byte(`{"metadata":{"name":"a","resourceVersion":"101"},"data":{"serial":"5"}}`))
	require.NoError(t, err)
	require.NoError(t, r.step(event{Type: lw.Deleted}, changes{{Type: lw.Deleted, Old: gone}}))
	require.NoError(t, r.step(event{Type: lw.Added}, changes{{Type: lw.Added, New: six}}))
	require.NoError(t, r.step(event{Type: lw.ListStarted}, nil))
	require.NoError(t, r.step(event{Type: lw.Synced}, changes{{Type: lw.Deleted, Old: six, FinalStateUnknown: true}}))
	nine := object(t, "a", 9) // no event contained the serial numbers 7 and 8
	require.NoError(t, r.step(event{Type: lw.Added}, changes{{Type: lw.Added, New: nine}}))
	require.Equal(t, map[lw.Key]*lw.Object{{Name: "a"}: nine}, r.held)
}

func TestReplayRejectsWrongChanges(t *testing.T) {
	for what, wrong := range map[string]func(t *testing.T, held *lw.Object) cache.Change[*lw.Object]{
		"object added twice": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Added, New: object(t, "a", 5)}
		},
		"update of an unknown object": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Modified, Old: object(t, "b", 1), New: object(t, "b", 2)}
		},
		"deletion of an unknown object": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Deleted, Old: object(t, "b", 1)}
		},
		"update with a wrong old object": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Modified, Old: object(t, "a", 4), New: object(t, "a", 5)}
		},
		"update to an older resourceVersion": func(t *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Modified, Old: held, New: object(t, "a", 3)}
		},
		"skipped event": func(t *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Modified, Old: held, New: object(t, "a", 6)}
		},
		"skipped event before a deletion": func(t *testing.T, _ *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Deleted, Old: object(t, "a", 5)}
		},
		"tombstone outside a list": func(_ *testing.T, held *lw.Object) cache.Change[*lw.Object] {
			return cache.Change[*lw.Object]{Type: lw.Deleted, Old: held, FinalStateUnknown: true}
		},
	} {
		t.Run(what, func(t *testing.T) {
			r, held := listed(t, false)
			require.Error(t, r.step(event{Type: lw.Modified}, changes{wrong(t, held)}))
		})
	}
}

func TestReplayChecksEffectOfEvents(t *testing.T) {
	for _, wrong := range []changes{nil, {{Type: lw.Added, New: object(t, "b", 1)}}} {
		r, _ := listed(t, false)
		require.Error(t, r.step(event{Type: lw.Modified, Object: object(t, "b", 1)}, wrong))
	}
}

func TestReplayAllowsGapsWithSelector(t *testing.T) {
	r, four := listed(t, true)
	six := object(t, "a", 6)
	require.NoError(t, r.step(event{Type: lw.Modified}, changes{{Type: lw.Modified, Old: four, New: six}}))
	require.Error(t, r.step(event{Type: lw.Modified}, changes{{Type: lw.Modified, Old: six, New: object(t, "a", 6)}}))
}
