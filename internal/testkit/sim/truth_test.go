package sim

import "github.com/seed-6d2a410a/listwatch/internal/revlog"

const (
	watched = "configmaps" // the followed collection
	others  = "pods"       // another collection, whose writes only advance the revision
)

// write records the write of a revision.
type write struct {
	collection string
	kind       revlog.Type
	key        string
	value      value
}

// state is the followed collection at a revision. It maps keys to the JSON text of objects. It is shared and immutable.
type state map[string]string

// incarnation is the history of the server's data between two restores. Up to the revision fork, it equals the parent's
// history.
type incarnation struct {
	number int
	parent *incarnation
	fork   int64
	writes []write // starting at revision fork+1
	states []state // the state after each write
}

// last returns the latest revision.
func (i *incarnation) last() int64 { return i.fork + int64(len(i.writes)) }

// add records a write and the resulting state.
func (i *incarnation) add(w write) {
	now := i.at(i.last())
	i.writes = append(i.writes, w)
	if w.collection == watched {
		next := make(state, len(now)+1)
		for key, text := range now {
			next[key] = text
		}
		if next[w.key] = w.value.text(w.key, i.last()); w.kind == revlog.Deleted {
			delete(next, w.key)
		}
		now = next
	}
	i.states = append(i.states, now)
}

// at returns the state at a revision.
func (i *incarnation) at(revision int64) state {
	for ; i != nil; i = i.parent {
		if revision > i.fork {
			return i.states[revision-i.fork-1]
		}
	}
	return nil
}

// write returns the write of a revision.
func (i *incarnation) write(revision int64) write {
	for revision <= i.fork {
		i = i.parent
	}
	return i.writes[revision-i.fork-1]
}

// after returns the next revision of the followed collection, or 0.
func (i *incarnation) after(revision int64) int64 {
	for revision++; revision <= i.last(); revision++ {
		if i.write(revision).collection == watched {
			return revision
		}
	}
	return 0
}

// claim is a revision with the incarnation that sent it.
type claim struct {
	of       *incarnation
	revision int64
}

// lost reports whether the claimed revision is missing from the history of incarnation now.
func (c claim) lost(now *incarnation) bool {
	if c.of == nil {
		return false
	}
	for ; now != c.of && now != nil; now = now.parent {
		if c.revision > now.fork {
			return true
		}
	}
	return false
}
