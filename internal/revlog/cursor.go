package revlog

import "slices"

// Cursor is a position in a collection's history. It stores a revision and no events, so a slow reader uses no memory.
// The lock of its log protects it, too.
type Cursor[V any] struct {
	log        *Log[V]
	collection string
	revision   int64
}

// Watch returns a cursor for the events after a revision. It returns [ErrCompacted] if the revision is below the
// compacted one. If the revision is in the future, the cursor skips the events up to it.
func (l *Log[V]) Watch(name string, revision int64) (*Cursor[V], error) {
	if revision < l.compacted {
		return nil, ErrCompacted
	}
	return &Cursor[V]{log: l, collection: name, revision: revision}, nil
}

// Next returns up to limit events and advances past them. If there are none, the cursor has reached the log's revision.
// Next returns [ErrCompacted] if unread events have been compacted.
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
	return slices.Clone(events), nil // Compaction clears the log's events.
}

// Revision returns the revision up to which the cursor has returned all events.
func (c *Cursor[V]) Revision() int64 { return c.revision }
