package sim

import "github.com/seed-6d2a410a/listwatch/internal/revlog"

const (
	watched = "configmaps" // the collection that is listed and watched
	others  = "pods"       // one that only makes versions pass
)

// write is one revision, as it happened.
type write struct {
	collection string
	kind       revlog.Type
	key        string
	value      value
}

// state is the watched collection at one revision: each key's text. It is shared, and never changed.
type state map[string]string

// incarnation is the life of the server's data from one restore to the next. Its history up to fork is its parent's.
type incarnation struct {
	number int
	parent *incarnation
	fork   int64
	writes []write // of the revisions from fork+1
	states []state // after each of them
}

// last is the newest revision.
func (i *incarnation) last() int64 { return i.fork + int64(len(i.writes)) }

// add records a write and the state that it leads to.
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

// at returns the collection as it was at a revision.
func (i *incarnation) at(revision int64) state {
	for ; i != nil; i = i.parent {
		if revision > i.fork {
			return i.states[revision-i.fork-1]
		}
	}
	return nil
}

// write returns what a revision wrote.
func (i *incarnation) write(revision int64) write {
	for revision <= i.fork {
		i = i.parent
	}
	return i.writes[revision-i.fork-1]
}

// after finds the watched collection's first revision after one; 0 if there is none.
func (i *incarnation) after(revision int64) int64 {
	for revision++; revision <= i.last(); revision++ {
		if i.write(revision).collection == watched {
			return revision
		}
	}
	return 0
}

// claim is a version with the incarnation that gave it.
type claim struct {
	of       *incarnation
	revision int64
}

// lost reports whether the claimed revision is none of the history that led to now.
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
