package sim

import (
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// changes checks that each key's changes are Added, any number of Modified, and Deleted. Only these deletions may
// have an unknown final state:
//
//   - deletions at the end of a list
//   - a deletion directly before a recreated object is Added
//   - a deletion by an event that deletes a different object with the same key
func (c *checker) changes(e lw.Event[*lw.Object], changes []cache.Change[*lw.Object]) {
	for i, d := range changes {
		object := d.New
		if d.Type == lw.Deleted {
			object = d.Old
		}
		key := lw.KeyOf(object)
		recreated := d.FinalStateUnknown && e.Type != lw.Synced && i+1 < len(changes) && changes[i+1].Type == lw.Added &&
			lw.KeyOf(changes[i+1].New) == key && changes[i+1].New.GetUID() != object.GetUID()
		recreated = recreated || d.FinalStateUnknown && e.Type == lw.Deleted && e.Object.GetUID() != object.GetUID()
		held := c.fold[key]
		legal := d.Type == lw.Added && held == nil || d.Type == lw.Modified && held == d.Old && held != nil ||
			d.Type == lw.Deleted && held != nil
		if !legal {
			c.fail("changes alternate", "the %v change for %v contradicts the current object %v", d.Type, key, held)
		}
		if d.FinalStateUnknown != (e.Type == lw.Synced || recreated) || d.FinalStateUnknown && d.Type != lw.Deleted {
			c.fail("final state unknown only after relists", "the %v change for %v, caused by a %v event, has the wrong FinalStateUnknown value %v", d.Type, key, e.Type, d.FinalStateUnknown)
		}
		if c.loose && d.FinalStateUnknown && !recreated && c.habit != earlyMark && c.conn.of.at(c.conn.revision)[key.String()] != "" {
			c.fail("equals the server's state", "a relist deleted %v, but the server has this object", key)
		}
		if c.fold[key] = object; d.Type == lw.Deleted {
			delete(c.fold, key)
		}
	}
}

// compare compares the store with c.fold. If no list is in progress, it also compares the store with the server's state
// at the claimed revision.
func (c *checker) compare() {
	held := c.subject.Held()
	if len(held) != len(c.fold) {
		c.fail("changes match the store", "the store has %d objects, but the changes result in %d", len(held), len(c.fold))
	}
	for _, object := range held {
		if c.fold[lw.KeyOf(object)] != object {
			c.fail("changes match the store", "%v differs from the result of its changes", lw.KeyOf(object))
		}
	}
	if c.listing || c.claim.of == nil || c.loose {
		return
	}
	if version := number(c.subject.Version()); version != c.storeVersion() {
		c.fail("atomic", "the store has resourceVersion %d, but the stream has %d", version, c.storeVersion())
	}
	c.equals(held, c.claim.of.at(c.claim.revision), c.claim.revision)
}

func (c *checker) equals(held []*lw.Object, want state, revision int64) {
	if len(held) != len(want) {
		c.fail("equals the server's state", "the store has %d objects, but the server had %d at resourceVersion %d", len(held), len(want), revision)
	}
	for _, object := range held {
		if text := object.Raw(); text != want[lw.KeyOf(object).String()] {
			c.fail("equals the server's state", "the store has %s at resourceVersion %d, but the server had %q", text, revision, want[lw.KeyOf(object).String()])
		}
	}
}
