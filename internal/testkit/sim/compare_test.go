package sim

import (
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// deltas checks that the deltas of a key alternate. A missed deletion is legal at the end of a list, directly before the Added
// of a recreated object, and if the event deletes another object of the same key.
func (c *checker) deltas(e lw.Event[*lw.Object], deltas []cache.Delta[*lw.Object]) {
	for i, d := range deltas {
		object := d.New
		if d.Type == cache.Deleted {
			object = d.Old
		}
		key := object.Key()
		recreated := d.Missed && e.Type != lw.Synced && i+1 < len(deltas) && deltas[i+1].Type == cache.Added &&
			deltas[i+1].New.Key() == key && deltas[i+1].New.GetUID() != object.GetUID()
		recreated = recreated || d.Missed && e.Type == lw.Deleted && e.Object.GetUID() != object.GetUID()
		held := c.fold[key]
		legal := d.Type == cache.Added && held == nil || d.Type == cache.Updated && held == d.Old && held != nil ||
			d.Type == cache.Deleted && held != nil
		if !legal {
			c.fail("deltas alternate", "%v of %v after %v", d.Type, key, held)
		}
		if d.Missed != (e.Type == lw.Synced || recreated) || d.Missed && d.Type != cache.Deleted {
			c.fail("missed only in sweeps", "%v of %v with %v: missed is %v", d.Type, key, e.Type, d.Missed)
		}
		if c.loose && d.Missed && !recreated && c.habit != earlyMark && c.conn.of.at(c.conn.revision)[key.String()] != "" {
			c.fail("the fold is the server's state", "%v was swept, and the server had it", key)
		}
		if c.fold[key] = object; d.Type == cache.Deleted {
			delete(c.fold, key)
		}
	}
}

// compare holds the store against the deltas, and outside of lists against the server's state at the claimed version.
func (c *checker) compare() {
	held := c.subject.Held()
	if len(held) != len(c.fold) {
		c.fail("deltas sum up", "%d objects, %d by deltas", len(held), len(c.fold))
	}
	for _, object := range held {
		if c.fold[object.Key()] != object {
			c.fail("deltas sum up", "%v is not what the deltas brought", object.Key())
		}
	}
	if c.listing || c.claim.of == nil || c.loose {
		return
	}
	if told := number(c.subject.Version()); told != c.claim.revision {
		c.fail("atomic", "the store says version %d, the stream %d", told, c.claim.revision)
	}
	c.equals(held, c.claim.of.at(c.claim.revision), c.claim.revision)
}

func (c *checker) equals(held []*lw.Object, want state, revision int64) {
	if len(held) != len(want) {
		c.fail("the fold is the server's state", "%d objects, %d at version %d", len(held), len(want), revision)
	}
	for _, object := range held {
		if text := object.Raw(); text != want[object.Key().String()] {
			c.fail("the fold is the server's state", "%s at version %d, where the server had %q", text, revision, want[object.Key().String()])
		}
	}
}
