// Package revlog is an in-memory store with a history, similar to etcd, for an embedded Kubernetes API server. It uses
// no HTTP, clocks or goroutines, so a simulation can run it step by step.
//
// All collections share a revision counter, which each write increments. [Log.At] reads a collection at a past
// revision. A [Cursor] reads the events after a revision. [Log.Compact] removes history, and reads of removed history
// return [ErrCompacted].
package revlog

import (
	"errors"
	"slices"
	"sort"
	"strings"
)

// Methods return these errors unwrapped.
var (
	ErrCompacted = errors.New("revlog: the revision has been compacted")
	ErrFuture    = errors.New("revlog: the revision is in the future")
)

// Entry is a value with its key and the revision of its latest write.
type Entry[V any] struct {
	Key      string
	Revision int64
	Value    V
}

// Type is the type of an [Event].
type Type int

const (
	Created Type = iota
	Updated
	Deleted
)

// Event describes a write. Entry is the entry after the write. For a deletion, its value is the final value that the
// caller passed to [Log.Delete]. Prev is the entry before the write, or the zero Entry for a creation.
type Event[V any] struct {
	Type  Type
	Entry Entry[V]
	Prev  Entry[V]
}

// Log stores the entries of collections and their history. It is not safe for concurrent use. Callers must not modify
// values that they have stored or read.
type Log[V any] struct {
	revision    int64
	compacted   int64
	collections map[string]*collection[V]
}

type collection[V any] struct {
	keys    []string // sorted keys of the map live
	live    map[string]Entry[V]
	events  []Event[V] // in ascending order of revisions
	dropped int64      // revision of the latest compacted event; a cursor before it has missed events
}

// New returns an empty log at revision 1, the revision of an empty etcd.
func New[V any]() *Log[V] {
	return &Log[V]{revision: 1, collections: map[string]*collection[V]{}}
}

// Revision returns the current revision. Because the next write increments it by one, a caller knows the revision of a
// write in advance. For example, an API server can store it in the object as the resourceVersion.
func (l *Log[V]) Revision() int64 { return l.revision }

// Compacted returns the oldest readable revision, or 0 if nothing has been compacted.
func (l *Log[V]) Compacted() int64 { return l.compacted }

// Get returns the live entry with this key, if any.
func (l *Log[V]) Get(name, key string) (Entry[V], bool) {
	e, ok := l.collection(name).live[key]
	return e, ok
}

// Put creates or replaces an entry, and returns it.
func (l *Log[V]) Put(name, key string, value V) Entry[V] {
	c := l.collection(name)
	event := Event[V]{Entry: Entry[V]{Key: key, Value: value}}
	if prev, ok := c.live[key]; ok {
		event.Type, event.Prev = Updated, prev
	}
	return l.write(c, event)
}

// Delete removes an entry, and reports whether it existed. The deletion event contains last, the final value.
func (l *Log[V]) Delete(name, key string, last V) bool {
	c := l.collection(name)
	prev, ok := c.live[key]
	if ok {
		l.write(c, Event[V]{Type: Deleted, Entry: Entry[V]{Key: key, Value: last}, Prev: prev})
	}
	return ok
}

// At returns the entries at a revision whose keys start with prefix, sorted by key. It returns [ErrCompacted] for a
// compacted revision and [ErrFuture] for a future revision.
func (l *Log[V]) At(name, prefix string, revision int64) ([]Entry[V], error) {
	switch {
	case revision < l.compacted:
		return nil, ErrCompacted
	case revision > l.revision:
		return nil, ErrFuture
	}
	c := l.collection(name)
	before := c.before(prefix, revision)
	var entries []Entry[V]
	first, _ := slices.BinarySearch(c.keys, prefix)
	for _, key := range c.keys[first:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if _, changed := before[key]; !changed {
			entries = append(entries, c.live[key])
		}
	}
	if len(before) == 0 {
		return entries, nil // the entries are already sorted
	}
	for _, event := range before {
		if event.Type != Created {
			entries = append(entries, event.Prev)
		}
	}
	slices.SortFunc(entries, func(a, b Entry[V]) int { return strings.Compare(a.Key, b.Key) })
	return entries, nil
}

// Advance increases the current revision without a write, for example so that a server starts at a given revision. It
// ignores a lower revision.
func (l *Log[V]) Advance(revision int64) { l.revision = max(l.revision, revision) }

// Compact removes the history before revision, but keeps the state at revision readable. If that revision is in the
// future, Compact uses the current revision. It does nothing if revision is already compacted.
func (l *Log[V]) Compact(revision int64) {
	revision = min(revision, l.revision)
	if revision <= l.compacted {
		return
	}
	l.compacted = revision
	for _, c := range l.collections {
		n := c.after(revision)
		if n == 0 {
			continue
		}
		c.dropped = c.events[n-1].Entry.Revision
		clear(c.events[:n]) // lets the garbage collector free the values while c.events still uses this array
		c.events = c.events[n:]
	}
}

func (l *Log[V]) collection(name string) *collection[V] {
	c := l.collections[name]
	if c == nil {
		c = &collection[V]{live: map[string]Entry[V]{}}
		l.collections[name] = c
	}
	return c
}

// write assigns the next revision to an event, applies the event and appends it to the history.
func (l *Log[V]) write(c *collection[V], event Event[V]) Entry[V] {
	l.revision++
	event.Entry.Revision = l.revision
	key := event.Entry.Key
	i, _ := slices.BinarySearch(c.keys, key)
	switch event.Type {
	case Created:
		c.keys = slices.Insert(c.keys, i, key)
		c.live[key] = event.Entry
	case Updated:
		c.live[key] = event.Entry
	case Deleted:
		c.keys = slices.Delete(c.keys, i, i+1)
		delete(c.live, key)
	}
	c.events = append(c.events, event)
	return event.Entry
}

// after returns the index of the first event after revision.
func (c *collection[V]) after(revision int64) int {
	return sort.Search(len(c.events), func(i int) bool { return c.events[i].Entry.Revision > revision })
}

// before returns the first event after revision for each key with the prefix. The Prev of this event is the key's entry
// at revision. Keys without such an event have not changed since then.
func (c *collection[V]) before(prefix string, revision int64) map[string]Event[V] {
	first := map[string]Event[V]{}
	for _, event := range slices.Backward(c.events[c.after(revision):]) {
		if strings.HasPrefix(event.Entry.Key, prefix) {
			first[event.Entry.Key] = event
		}
	}
	return first
}
