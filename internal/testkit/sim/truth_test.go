package sim

import "github.com/seed-6d2a410a/listwatch/internal/revlog"

const (
	watched = "configmaps" // collection that the engine watches
	others  = "pods"       // collection whose writes only advance the revision
)

// write is a change to the data. Each write has its own revision.
type write struct {
	collection string
	kind       revlog.Type
	key        string
	value      value
}

// state maps the keys of the watched collection to the JSON of its objects at a revision. States are shared and must
// not be modified.
type state map[string]string

// incarnation is the history of the server's data between two restores. A restore goes back to an earlier revision, the
// fork. Up to the fork, an incarnation has the same history as its parent.
type incarnation struct {
	number int
	parent *incarnation
	fork   int64
	writes []write // element 0 has revision fork+1
	states []state // objects after each write
}

func (i *incarnation) last() int64 { return i.fork + int64(len(i.writes)) }

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

func (i *incarnation) at(revision int64) state {
	for ; i != nil; i = i.parent {
		if revision > i.fork {
			return i.states[revision-i.fork-1]
		}
	}
	return nil
}

// write returns the write with the given revision.
func (i *incarnation) write(revision int64) write {
	for revision <= i.fork {
		i = i.parent
	}
	return i.writes[revision-i.fork-1]
}

// after returns the first revision above the given one that changed the watched collection, or 0 if there is none.
func (i *incarnation) after(revision int64) int64 {
	for revision++; revision <= i.last(); revision++ {
		if i.write(revision).collection == watched {
			return revision
		}
	}
	return 0
}

// claim is a revision of an incarnation. A revision alone is ambiguous, because a restore may reset the revision
// counter.
type claim struct {
	of       *incarnation
	revision int64
}

// lost reports whether a restore has undone the claimed revision. `now` is the current incarnation.
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
