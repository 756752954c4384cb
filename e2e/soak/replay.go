package soak

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// replay folds a follower's deltas from empty, and finds fault with any that does not fit what was told before. It knows
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

var effects = map[lw.EventType]cache.DeltaType{lw.Added: cache.Added, lw.Modified: cache.Updated, lw.Deleted: cache.Deleted}

// step takes one event with its deltas.
func (r *replay) step(event lw.Event[*lw.Object], deltas []cache.Delta[*lw.Object]) error {
	switch {
	case event.Type == lw.Reset:
		r.listing = true
	case event.Object != nil && !r.listing && (len(deltas) != 1 || deltas[0].Type != effects[event.Type]):
		return fmt.Errorf("%v of %v: %d changes, where one %v is due", event.Type, event.Object.Key(), len(deltas), effects[event.Type])
	}
	for _, delta := range deltas {
		if err := r.apply(delta); err != nil {
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

func (r *replay) apply(d cache.Delta[*lw.Object]) error {
	object := d.New
	if d.Type == cache.Deleted {
		object = d.Old
	}
	key := object.Key()
	held := r.held[key]
	switch {
	case (held != nil) == (d.Type == cache.Added):
		return fmt.Errorf("%v of %v, held before: %v", d.Type, key, held != nil)
	case (d.Type == cache.Updated || d.Missed) && d.Old != held:
		return fmt.Errorf("%v of %v: the old object is not the one held", d.Type, key)
	case d.Missed && !r.listing:
		return fmt.Errorf("%v of %v: missed, outside of a list", d.Type, key)
	case d.Type != cache.Added && !d.Missed && !r.listing && !older(held, object):
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
func (r *replay) number(d cache.Delta[*lw.Object], object *lw.Object) error {
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
