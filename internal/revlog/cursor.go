package revlog

import "slices"

// Cursor reads the events of a collection in order. It does not buffer events, so slow readers use no extra memory. A
// Cursor reads the Log without locking, so the caller's lock for the Log must also protect its cursors.
type Cursor[V any] struct {
	log        *Log[V]
	collection string
	revision   int64
}

// Watch returns a cursor for the events of a collection after revision. It returns [ErrCompacted] if these events have
// been compacted. The revision may be in the future: the cursor then skips all events up to that revision.
func (l *Log[V]) Watch(name string, revision int64) (*Cursor[V], error) {
	if revision < l.compacted {
		return nil, ErrCompacted
	}
	return &Cursor[V]{log: l, collection: name, revision: revision}, nil
}

// Next returns up to limit events and advances past them. It returns no events at the end of the log. It returns
// [ErrCompacted] if unread events have been compacted.
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
	return slices.Clone(events), nil // a copy, because Compact clears the elements
}

// Revision returns the revision up to which all events have been read.
func (c *Cursor[V]) Revision() int64 { return c.revision }
