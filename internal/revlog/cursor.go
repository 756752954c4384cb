package revlog

import "slices"

// Cursor is a place in a collection's history. It holds a revision and no events, so a reader that lags costs nothing. It is
// locked with its log.
type Cursor[V any] struct {
	log        *Log[V]
	collection string
	revision   int64
}

// Watch returns a cursor at a revision: [Cursor.Next] gives what follows it. A revision below the compacted one is
// [ErrCompacted]. A revision of the future is allowed: events are skipped until it has passed.
func (l *Log[V]) Watch(name string, revision int64) (*Cursor[V], error) {
	if revision < l.compacted {
		return nil, ErrCompacted
	}
	return &Cursor[V]{log: l, collection: name, revision: revision}, nil
}

// Next returns up to limit events and moves past them. No events means that the cursor has reached the log's revision. It
// returns [ErrCompacted] if events that the cursor had not read yet are gone; a compaction that took nothing from it goes
// unnoticed.
func (c *Cursor[V]) Next(limit int) ([]Event[V], error) {
	col := c.log.collection(c.collection)
	if c.revision < col.dropped {
		return nil, ErrCompacted
	}
	events := col.events[col.after(c.revision):]
	if len(events) > limit {
		events = events[:limit]
		c.revision = events[limit-1].Entry.Revision
	} else {
		c.revision = max(c.revision, c.log.revision)
	}
	return slices.Clone(events), nil // the log clears what it drops
}

// Revision is how far the cursor has read: every event up to it was given.
func (c *Cursor[V]) Revision() int64 { return c.revision }
